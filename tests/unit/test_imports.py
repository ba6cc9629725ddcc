"""Who may import what. The layers are only as good as their imports."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cfn import shared_variables, variables

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "shared/delayer"
FUNCTIONS = sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))
AWS_SDK = {"boto3", "botocore", "s3transfer", "aws_lambda_powertools", "aws_xray_sdk"}
NEVER = {"pydantic", "pydantic_core", "requests", "moto", "docker", "yaml", "hypothesis", "pytest"}


def imported(path: Path) -> Iterator[str]:
    """The full names of all modules a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where they lead"
            assert node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((PACKAGE / folder).rglob("*.py"))]
    assert found
    return found


def check(paths: list[Path], *forbidden: str) -> None:
    for path in paths:
        for name in imported(path):
            bad = [one for one in forbidden if name == one or name.startswith(one + ".")]
            assert not bad, f"{path.relative_to(ROOT)} imports {name}"


def outside(paths: list[Path]) -> set[str]:
    """Top-level packages that are neither ours nor Python's."""
    names = {name.partition(".")[0] for path in paths for name in imported(path)}
    return names - {"delayer"} - sys.stdlib_module_names


def test_the_sdk_is_imported_by_the_adapters_only() -> None:
    others = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "aws" not in path.parents]
    check(others, *AWS_SDK)
    check(sorted(ROOT.glob("functions/*/app.py")), *AWS_SDK)


def test_the_core_knows_nobody() -> None:
    check(files("core"), *(f"delayer.{name}" for name in ("aws", "fakes", "ports", "targets", "use_cases")))
    assert outside(files("core")) == {"attrs", "jsonschema", "msgspec"}


def test_the_core_has_no_clock_no_chance_and_no_io() -> None:
    """But for its own contract, which lies beside it. Time is an argument."""
    check(files("core"), "time", "random", "secrets", "socket", "os", "pathlib", "threading", "logging", "urllib")
    for path in files("core"):
        names = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        assert not {name for name in names if name.endswith((".now", ".utcnow", ".today")) or name == "open"}, path


def test_the_ports_know_the_core_only() -> None:
    check([PACKAGE / "ports.py"], *(f"delayer.{name}" for name in ("aws", "fakes", "targets", "use_cases")))
    assert outside([PACKAGE / "ports.py"]) == {"attrs"}


def test_the_use_cases_know_core_and_ports_only() -> None:
    check(files("use_cases"), "delayer.aws", "delayer.fakes", "delayer.targets")
    assert outside(files("use_cases")) <= {"attrs", "msgspec"}


def test_the_targets_know_core_and_ports_only() -> None:
    """An action is a function of a message: it needs no table and no queue."""
    check(files("targets"), "delayer.aws", "delayer.fakes", "delayer.use_cases")
    assert outside(files("targets")) <= {"attrs", "msgspec", "urllib3"}


def test_the_fakes_stay_out_of_the_lambdas() -> None:
    others = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "fakes" not in path.parents]
    check([*others, *sorted(ROOT.glob("functions/*/app.py"))], "delayer.fakes")
    check(files("fakes"), "delayer.aws", "delayer.use_cases", "delayer.targets")


def test_the_adapters_do_not_decide() -> None:
    """Nor do they know the use cases, but for the wiring and what serves the operator."""
    allowed = {"wiring.py", "api_wiring.py", "creating.py", "operator.py", "kept_schedules.py"}
    check([path for path in files("aws") if path.name not in allowed], "delayer.use_cases")


def test_nothing_imports_from_functions() -> None:
    for folder in ("shared", "local", "tests", "bench"):
        check(sorted((ROOT / folder).rglob("*.py")), "functions")


def test_no_pydantic_anywhere() -> None:
    for folder in ("shared/delayer", "functions"):
        check(sorted((ROOT / folder).rglob("*.py")), *NEVER)
    assert "pydantic" not in (ROOT / "shared/requirements.txt").read_text()


def test_the_layer_holds_what_the_package_imports() -> None:
    """And nothing else, but for what those need; boto3 comes with the runtime."""
    wanted = (ROOT / "shared/requirements.in").read_text().splitlines()
    packages = {line.partition("[")[0].replace("-", "_") for line in wanted if line and not line.startswith("#")}
    everything = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "fakes" not in path.parents]
    assert outside(everything) - {"boto3", "botocore"} == packages


def test_handlers_are_short() -> None:
    """A handler translates, the core decides."""
    for function in FUNCTIONS:
        lines = (ROOT / f"functions/{function}/app.py").read_text().splitlines()
        assert len([line for line in lines if line.strip()]) <= 40, function


SCRIPT = """
import json, sys
import app
assert callable(app.handler)
print(json.dumps(sorted(sys.modules)))
"""


TAKES_A_BODY = {  # or a query that is checked against the contract
    "api-schedule-post",
    "api-schedule-put",
    "api-schedule-patch",
    "api-schedule-list",
    "api-batch-post",
    "api-group-delete",
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_cold_start_imports_no_more_than_it_needs(function: str) -> None:
    """With the variables of the template and nothing else in the environment: each missing one would end it."""
    set_in_template = {**shared_variables(), **variables(function)}
    environment = {name: value if isinstance(value, str) else "1" for name, value in set_in_template.items()}
    environment |= {
        "POWERTOOLS_TRACE_DISABLED": "true",
        "POWERTOOLS_LOG_LEVEL": "INFO",
        "AWS_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "shared"), str(ROOT / "functions" / function)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    modules = {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert not modules & (NEVER | {"aws_xray_sdk"})
    assert "delayer.fakes" not in done.stdout
    assert ("jsonschema" in modules) == (function in TAKES_A_BODY), "validation is the API's business"
