"""What the operators' room may import: who judges asks nothing, and an installed package is enough."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.cfn import ROOT
from tests.running.of_each import of_each

ROOM = ROOT / "client/delayer_client/operator"
ASKING = (
    "boto3",
    "botocore",
    "httpx",
    "urllib3",
    "delayer_client.operator.doctor.gather",
    "delayer_client.operator.stack",
)


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        found |= {one.name for one in node.names} if isinstance(node, ast.Import) else set()
        found |= {str(node.module)} if isinstance(node, ast.ImportFrom) else set()
    return found


@of_each(sorted(ROOM.glob("doctor/judge/*.py")))
def test_who_judges_asks_nothing(path: Path) -> None:
    assert [name for name in imports(path) if name.startswith(ASKING)] == []


@of_each(sorted(ROOM.glob("doctor/gather/*.py")))
def test_who_asks_judges_nothing(path: Path) -> None:
    assert [name for name in imports(path) if "judge" in name or name.endswith("finding")] == []


def test_the_operators_room_needs_nothing_of_the_repository(tmp_path: Path) -> None:
    """All of its modules are imported where only the package is. What of other extras a library finds, it may load."""
    assert [path for path in ROOM.rglob("*.py") if imports(path) & {"attrs", "rich", "rich.console"}] == []
    modules = [
        ".".join(path.relative_to(ROOT / "client").with_suffix("").parts)
        for path in sorted(ROOM.rglob("*.py"))
        if path.name != "__init__.py"
    ]
    program = "\n".join(
        [
            "import sys",
            f"sys.path.insert(0, {str(ROOT / 'client')!r})",
            *(f"import {module}" for module in modules),
            "tops = {name.partition('.')[0] for name in sys.modules}",
            "print(*sorted(tops & {'delayer', 'local', 'operate', 'bench', 'tests', 'typer'}))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
