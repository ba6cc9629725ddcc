"""Who may import what. The rooms are only as good as their imports."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.cfn import ROOT
from tests.functions.cold_start import cold_start
from tests.rooms import LAYERS, ROOMS, layer_of, parts_of, room_of
from tests.running.of_each import of_each

PACKAGE = ROOT / "shared/delayer"
FUNCTIONS = sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))
AWS_SDK = {"boto3", "botocore", "s3transfer", "aws_lambda_powertools", "aws_xray_sdk"}
STUBS = {f"mypy_boto3_{service}" for service in ("dynamodb", "lambda", "s3", "sns", "sqs")}  # for mypy alone
NEVER = {"pydantic", "pydantic_core", "requests", "moto", "docker", "yaml", "hypothesis", "pytest"}
HEAVY = {
    "boto3",
    "s3transfer",
    "multiprocessing",
    "asyncio",
    "unittest",
    "sqlite3",
}  # milliseconds of a cold start (ADR 0117)

PARTS = {"stored", "built", "held"}  # how the bundle says which module has a part (ADR 0174)
FUNCTIONS_IMPORT = {  # beside their use cases, of whatever room
    ("engines", "engines.aws"),
    ("engines", "engines.process"),
    ("recurrence", "rules"),
    ("http", "rules"),
    ("http", "routes"),
    ("actions", "rules"),
    ("actions", "ports"),
    ("actions", "routes"),
    ("connections", "rules"),
    ("connections", "routes"),
    ("accept", "rules"),
    ("accept", "ports"),
    ("accept", "routes"),
    ("jobs", "routes"),
    ("recovery", "rules"),
    ("signing", "rules"),
    ("signing", "routes"),
    ("series", "rules"),
    ("series", "routes"),
    ("lambdas", "lambdas"),
    ("wiring", "wiring"),
    ("extension", "extension"),
    ("targets", "targets"),
}


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The full names of all modules a file imports, wherever in it."""
    return tuple(names_in(path))


def names_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where they lead"
            assert node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PARTS:
            yield from (str(one.value) for one in node.args if isinstance(one, ast.Constant))


@cache
def files_of(room: str) -> list[Path]:
    return [path for path in MODULES if room_of(module_of(path)) == room]


def module_of(path: Path) -> str:
    return "delayer." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]


def of_layer(layer: str) -> list[Path]:
    return [path for path in MODULES if layer_of(module_of(path)) == layer]


def files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((PACKAGE / folder).rglob("*.py"))]
    assert found
    return found


def check(paths: list[Path], *forbidden: str) -> None:
    for path in paths:
        text = path.read_text()
        if not any(one.rpartition(".")[2] in text for one in forbidden):
            continue  # to parse all files takes seconds
        for name in imported(path):
            bad = [one for one in forbidden if name == one or name.startswith(one + ".")]
            assert not bad, f"{path.relative_to(ROOT)} imports {name}"


def outside(paths: list[Path]) -> set[str]:
    """Top-level packages that are neither ours nor Python's, those for mypy alone not counted."""
    names = {name.partition(".")[0] for path in paths for name in imported(path)}
    return names - {"delayer"} - STUBS - sys.stdlib_module_names


def test_the_sdk_is_imported_by_the_engines_only() -> None:
    """And where functions are what is called: by the targets, and by who asks another function."""
    may = {"engines.aws", "lambdas", "targets"}
    check([path for path in MODULES if layer_of(module_of(path)) not in may], *AWS_SDK)
    check(sorted(ROOT.glob("functions/*/app.py")), *AWS_SDK)


def rooms_in(paths: list[Path]) -> set[str]:
    return {room for path in paths for name in imported(path) if (room := room_of(name))}


@of_each(ROOMS)
def test_a_room_imports_what_the_table_says(room: str) -> None:
    """All of it, and nothing else. It takes a second or two: the whole package is parsed."""
    assert rooms_in(files_of(room)) - {room} == ROOMS[room]


@of_each(LAYERS)
def test_a_layer_imports_what_the_table_says(layer: str) -> None:
    """In whatever room."""
    paths = of_layer(layer)
    assert paths
    found = {layer_of(name) for path in paths for name in imported(path) if parts_of(name)}
    assert found - {layer} == LAYERS[layer]


def test_each_module_is_in_a_room_and_is_of_a_layer() -> None:
    """The packages around them hold nothing."""
    assert {room_of(module_of(path)) for path in MODULES} == set(ROOMS)
    assert {layer_of(module_of(path)) for path in MODULES} == {*LAYERS}
    holding = [path for path in PACKAGE.rglob("__init__.py") if list(imported(path))]
    assert holding == [PACKAGE / "engines/aws/__init__.py"], "the garbage collector rests from there on"


def test_nothing_neutral_knows_an_event_of_the_api() -> None:
    """One module reads what API Gateway writes. The handlers, the rooms and the fake have a request (ADR 0177).

    The deadline of an invocation begins when the gateway got the call: that is for Lambda alone, too (ADR 0073).
    """
    words = ("requestContext", "routeKey", "isBase64Encoded", "pathParameters", "queryStringParameters", "statusCode")
    readers = [*MODULES, *ROOT.glob("functions/*/app.py"), *ROOT.glob("client/delayer_client/**/*.py")]
    knowing = {path.relative_to(ROOT).as_posix() for path in readers for word in words if word in path.read_text()}
    assert knowing == {"shared/delayer/lambdas/api.py", "shared/delayer/engines/aws/bounded_calls.py"}


def test_no_arrow_leads_upwards() -> None:
    names = list(ROOMS)
    assert [(room, one) for room in names for one in ROOMS[room] if names.index(one) >= names.index(room)] == []
    layers = list(LAYERS)
    assert [(one, other) for one in layers for other in LAYERS[one] if layers.index(other) >= layers.index(one)] == []


def test_a_room_says_which_rooms_it_knows() -> None:
    for room in ROOMS:
        [line] = re.findall("^.*Rooms that it knows.*$", (PACKAGE / room / "README.md").read_text(), re.MULTILINE)
        assert re.findall("`([a-z_]+)`", line) == [one for one in ROOMS if one in ROOMS[room]], room


def test_functions_import_what_they_translate_and_the_wiring() -> None:
    names = {name for path in ROOT.glob("functions/*/app.py") for name in imported(path) if parts_of(name)}
    found = {(str(room_of(name)), layer_of(name)) for name in names}
    assert {one for one in found if one[1] != "use_cases"} == FUNCTIONS_IMPORT


def test_the_wiring_alone_knows_both_the_use_cases_and_the_engines() -> None:
    """And nobody but the functions, the engine on one machine, the local stack and the tests knows the wiring."""
    for layer, others in LAYERS.items():
        both = others >= {"use_cases", "engines.aws"}
        assert both == (layer in ("wiring", "targets")), layer  # a target has the credentials of its connection
        assert ("wiring" in others) == (layer in ("extension", "serve")), "an author's function is wired for it"


def test_the_rules_use_few_libraries() -> None:
    assert outside(of_layer("rules")) == {"attrs", "cronsim", "jsonschema", "msgspec", "tzdata"}


def test_the_rules_have_no_clock_no_chance_and_no_io() -> None:
    """But for its own contract, which lies beside it. Time is an argument."""
    check(of_layer("rules"), "time", "random", "secrets", "socket", "os", "pathlib", "threading", "logging", "urllib")
    for path in of_layer("rules"):
        names = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        assert not {name for name in names if name.endswith((".now", ".utcnow", ".today")) or name == "open"}, path


def test_ports_use_cases_and_targets_use_few_libraries() -> None:
    assert outside(of_layer("ports")) == {"attrs"}
    assert outside(of_layer("use_cases")) <= {"attrs", "msgspec"}
    assert outside(of_layer("targets")) <= {"attrs", "msgspec", "urllib3"}


def test_the_fakes_stay_out_of_the_lambdas() -> None:
    """They are for tests, those of others included."""
    users = [layer for layer, others in LAYERS.items() if "engines.memory" in others]
    assert users == ["extension"]
    check(sorted(ROOT.glob("functions/*/app.py")), "delayer.engines.memory")


def test_what_runs_on_one_machine_alone_is_not_missed_in_the_layer() -> None:
    """It is left out there (shared/Makefile)."""
    assert [layer for layer, others in LAYERS.items() if "engines.sqlite" in others] == ["serve"]
    assert [layer for layer, others in LAYERS.items() if "serve" in others] == []
    check(sorted(ROOT.glob("functions/*/app.py")), "delayer.engines.sqlite", "delayer.serve")


def test_nothing_imports_from_functions() -> None:
    """It takes a second: all files are read, and many are parsed."""
    for folder in ("shared", "local", "operate", "tests", "bench"):
        check(sorted((ROOT / folder).rglob("*.py")), "functions")


def test_no_pydantic_anywhere() -> None:
    for folder in ("shared/delayer", "functions"):
        check(sorted((ROOT / folder).rglob("*.py")), *NEVER)
    assert "pydantic" not in (ROOT / "shared/requirements.txt").read_text()


def test_the_layer_holds_what_the_package_imports() -> None:
    """And nothing else, but for what those need; botocore comes with the runtime."""
    wanted = (ROOT / "shared/requirements.in").read_text().splitlines()
    packages = {line.partition("[")[0].replace("-", "_") for line in wanted if line and not line.startswith("#")}
    on_one_machine = {*PACKAGE.rglob("serve/**/*.py")}
    assert outside([path for path in PACKAGE.rglob("*.py") if path not in on_one_machine]) - {"botocore"} == packages


def test_handlers_are_short() -> None:
    """A handler translates, the rules decide. Imports and empty lines are not counted."""
    for function in FUNCTIONS:
        text = (ROOT / f"functions/{function}/app.py").read_text()
        imports = [one for one in ast.parse(text).body if isinstance(one, ast.Import | ast.ImportFrom)]
        left_out = sum(one.end_lineno - one.lineno + 1 for one in imports if one.end_lineno)
        longest = 50 if function.startswith(("executor-", "policy-")) else 32  # with the class of its fields
        assert len([line for line in text.splitlines() if line]) - left_out <= longest, function


CHECKS_SCHEMAS = {"deploy-action-registrar"}
TAKES_A_BODY = {  # or a query that is checked against the contract
    "api-schedule-post",
    "api-schedule-put",
    "api-schedule-patch",
    "api-schedule-list",
    "api-series-post",
    "api-series-put",
    "api-series-get",
    "api-series-list",
    "api-series-preview",
    "api-connection-get",
    "api-connection-put",
    "api-connection-test",
    "api-batch-post",
    "api-group-delete",
    "api-series-patch",
    "api-series-run",
    "api-signing-secret",
    "deploy-action-registrar",  # a schema
}


each_function = of_each(FUNCTIONS)


@each_function
def test_a_cold_start_imports_no_more_than_it_needs(function: str) -> None:
    modules = cold_start(function).modules
    packages = {name.partition(".")[0] for name in modules}
    assert not packages & (NEVER | STUBS | HEAVY | {"aws_xray_sdk"})
    assert "delayer.engines.memory" not in modules
    assert not {f"delayer.wiring.{one}" for one in ("manifest", "pump")} & modules
    assert ("jsonschema" in packages) == (function in TAKES_A_BODY | CHECKS_SCHEMAS), "validation is the API's business"


@each_function
def test_a_function_that_has_started_collects_garbage_and_leaves_alone_what_it_has_imported(function: str) -> None:
    assert cold_start(function).collects


@each_function
def test_a_cold_start_imports_no_use_case_of_another_function(function: str) -> None:
    """Those that were wired, those that the handler names, and what these import."""
    named = {name for name in imported(ROOT / f"functions/{function}/app.py") if is_use_case(name)}
    needed: set[str] = set()
    waiting = {*cold_start(function).use_cases, *named}
    while waiting:
        path = path_of(waiting.pop())
        if module_of(path) not in needed:
            needed.add(module_of(path))
            waiting |= {name for name in imported(path) if is_use_case(name)}
    found = {name for name in cold_start(function).modules if is_use_case(name)}
    assert {name for name in found if not is_package(name)} == needed


def is_use_case(name: str) -> bool:
    return len(parts_of(name)) > 1 and layer_of(name) == "use_cases"


def path_of(name: str) -> Path:
    """The file of a module, or of the module that holds what is named."""
    path = ROOT / "shared" / name.replace(".", "/")
    return path.with_suffix(".py") if path.with_suffix(".py").exists() else path.parent.with_suffix(".py")


def is_package(name: str) -> bool:
    return (ROOT / "shared" / name.replace(".", "/")).is_dir()


READERS = (".admission", ".listing", ".json_body", ".field_errors", ".rotation_body", "http.routes")


@each_function
def test_a_cold_start_imports_nothing_of_the_api_behind_it(function: str) -> None:
    """Who checks no body and answers no call knows nothing of it; a job cancels and a task replaces as the API does."""
    ours = {name for name in cold_start(function).modules if len(parts_of(name)) > 1}
    found = {name for name in ours if name.endswith(READERS) or layer_of(name) == "routes"}
    found.discard("delayer.owners.admission")  # what operators and deployments say
    assert bool(found) == function.startswith("api-")


REPOSITORIES = {  # the modules of repositories that a function imports, of those that not every function does
    "api-default": set[str](),
    "api-job-get": {"jobs"},
    "api-schedule-stop": {"ledger", "records"},
    "sweep-bucket-enqueuer": {"records"},
    "lifecycle-journal": {"history"},
}


@of_each(REPOSITORIES)
def test_a_cold_start_imports_its_own_repositories_only(function: str) -> None:
    """Each is made, and imported, on first use."""
    ours = {name for name in cold_start(function).modules if len(parts_of(name)) > 1 and not is_package(name)}
    found = {name for name in ours if layer_of(name) == "repository"}
    assert {name.removeprefix("delayer.").replace(".repository", "") for name in found} == REPOSITORIES[function]
