"""The rooms of the client: what each may import, so that the library stays lean and no arrow leads back."""

import ast
import json
import subprocess
import sys
from pathlib import Path

from tests.cfn import ROOT
from tests.running.of_each import of_each

PACKAGE = ROOT / "client/delayer_client"
# Each room, and the rooms of the package that it may import. What is not a folder is the room "".
ROOMS: dict[str, set[str]] = {
    "": {"api", "calls", "transport", "asynchronous", "synchronous"},
    "api": set(),
    "calls": {"api"},
    "transport": {"api", "calls"},
    "asynchronous": {"api", "calls", "transport"},
    "synchronous": {"api", "calls", "transport"},
    "operator": {"api", "calls", "transport", "synchronous"},
    "eventbridge": {"api", "calls", "transport"},
    "testing": {"api", "synchronous", "asynchronous", "transport", "calls"},
    "console": {"api", "calls", "transport", "asynchronous", "operator"},
    "scaffold": set(),
    "cli": {"api", "calls", "transport", "synchronous", "operator", "eventbridge", "console", "scaffold"},
}
# Packages that only these rooms import, because only their extra brings them.
OF_EXTRAS = {
    "boto3": {"transport", "operator", "eventbridge", "cli", "console"},
    "botocore": {"transport", "operator", "eventbridge", "cli", "console"},
    "typer": {"cli"},
    "rich": {"cli"},
    "starlette": {"console"},
    "uvicorn": {"console"},
    "jinja2": {"console"},
    # It is in the wheel; what guards a port is said once, and `delayer serve` runs it.
    "delayer": {"testing", "console", "cli"},
}
NEVER = {"local", "operate", "tests", "functions", "bench", "yaml", "moto"}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


FILES = sorted(PACKAGE.rglob("*.py"))


@of_each(FILES)
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    room = room_of(path)
    own = {name.split(".")[1] for name in imports(path) if name.startswith("delayer_client.")}
    assert {one for one in own if (PACKAGE / one).is_dir()} - ROOMS[room] - {room} == set()
    tops = {name.partition(".")[0] for name in imports(path)}
    assert tops & NEVER == set()
    assert {top for top in tops if room not in OF_EXTRAS.get(top, {room})} == set()


OF_AN_ENGINE = """
import json, sys
from pathlib import Path
from delayer_client.cli.app import app
from delayer_client.operator import OperatorEngine, Where
from delayer_client.operator.doctor import engine
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_an_engine_is_operated_without_boto3() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OF_AN_ENGINE], cwd=ROOT / "client", capture_output=True, text=True, check=True
    )
    assert set(json.loads(done.stdout)) & {"boto3", "botocore", "delayer"} == set()


def test_the_library_alone_loads_nothing_of_the_extras() -> None:
    program = "import json, sys, delayer_client; print(json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "client", capture_output=True, text=True, check=True
    )
    assert (
        set(json.loads(done.stdout)) & (OF_EXTRAS.keys() | NEVER) - {"rich"} == set()
    )  # which httpx loads if it is there
