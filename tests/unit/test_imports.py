"""Who may import what. The rooms are only as good as their imports."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.cfn import ROOT
from tests.functions.cold_start import cold_start
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

# Each room of the package, and the rooms that it imports: all of them stand above it in this table, so that no arrow
# leads upwards and there is no cycle.
ROOMS: dict[str, set[str]] = {
    "core/schemas": set(),
    "core/schedule": set(),
    "core/recurrence": {"core/schedule"},
    "core/ledger": {"core/schedule"},
    "core/addresses": set(),
    "core/flow": {"core/schedule", "core/addresses"},
    "core/limits": {"core/schedule", "core/flow"},
    "core/firing": {"core/schedule", "core/flow", "core/limits", "core/ledger"},
    "core/recovery": {"core/schedule", "core/ledger"},
    "core/jobs": {"core/schedule"},
    "core/masking": {"core/schemas", "core/schedule"},
    "core/history": {"core/schemas", "core/schedule", "core/ledger", "core/masking"},
    "core/timing": {"core/schedule", "core/ledger", "core/recurrence"},
    "core/series": {"core/schemas", "core/schedule", "core/ledger", "core/recurrence", "core/timing"},
    "core/series/upkeep": {"core/schedule", "core/ledger", "core/firing", "core/series"},
    "core/signing": {"core/schedule"},
    "core/actions": {"core/schemas", "core/schedule", "core/flow", "core/firing", "core/masking"},
    "core/owners": {"core/schedule", "core/addresses", "core/actions"},
    "core/api": {
        "core/owners",
        "core/schemas",
        "core/schedule",
        "core/ledger",
        "core/masking",
        "core/history",
        "core/actions",
    }
    | {"core/timing", "core/flow"},
    "core/api/signing": {"core/schedule", "core/signing", "core/api"},
    "core/api/series": {
        "core/schemas",
        "core/schedule",
        "core/ledger",
        "core/recurrence",
        "core/series",
        "core/timing",
        "core/api",
    },
    "core/connections": {"core/schemas", "core/schedule", "core/ledger", "core/masking", "core/owners", "core/api"},
    "ports": {"core/schedule", "core/flow", "core/ledger", "core/firing", "core/recovery", "core/jobs", "core/history"}
    | {"core/owners", "core/actions", "core/series", "core/series/upkeep", "core/signing", "core/connections"}
    | {"core/limits"},
    "store": {"core/schedule", "ports"},
    "repositories/ledger": {"core/schedule", "core/ledger", "ports", "store"},
    "repositories/schedules": {"core/schedule", "ports", "store"},
    "repositories/registry": {"core/schedule", "core/ledger", "core/jobs", "core/connections", "ports", "store"}
    | {"repositories/ledger", "repositories/schedules"},
    "repositories/journal": {"core/schedule", "core/ledger", "core/history", "core/series", "ports", "store"}
    | {"repositories/registry"},
    "repositories/series": {"core/schedule", "core/series", "core/series/upkeep", "ports", "store"}
    | {"repositories/ledger", "repositories/schedules", "repositories/registry"},
    "repositories/control": {"core/schedule", "core/recovery", "core/actions", "core/owners", "core/signing", "ports"}
    | {"store"},
    "repositories/flow": {"core/schedule", "core/flow", "core/limits", "ports", "store"},
    "repositories/connections": {"core/schedule", "core/connections", "ports", "store", "repositories/registry"},
    "repositories": {"core/schedule", "core/ledger", "ports", "store", "repositories/ledger", "repositories/schedules"},
    "use_cases": {"core/schedule", "core/ledger", "core/api", "ports"},
    "use_cases/signing": {"core/schedule", "core/actions", "core/signing", "ports"},
    "use_cases/recovery": {"core/schedule", "core/ledger", "core/firing", "core/recovery", "core/masking", "ports"}
    | {"core/series", "core/signing"}
    | {"core/actions"}  # what CloudFormation asks
    | {"use_cases", "use_cases/signing"},
    "use_cases/flow": {"core/schedule", "core/flow", "core/limits", "core/firing", "core/actions", "ports"},
    "use_cases/limits": {"core/schedule", "core/flow", "core/limits", "core/firing", "ports", "use_cases/flow"},
    "use_cases/firing": {"core/schedule", "core/flow", "core/ledger", "core/firing", "core/recovery", "ports"}
    | {"core/limits", "use_cases", "use_cases/flow", "use_cases/limits", "use_cases/recovery"},
    "use_cases/actions": {"core/schedule", "core/actions", "ports"},
    "use_cases/owners": {
        "core/schedule",
        "core/recurrence",
        "core/actions",
        "core/firing",
        "core/owners",
        "core/api",
        "core/api/series",
        "ports",
    },
    "use_cases/history": {"core/schedule", "core/ledger", "core/history", "core/series", "ports"}
    | {"core/actions", "core/api"},
    "use_cases/connections": {
        "core/flow",
        "use_cases/flow",
        "core/schedule",
        "core/firing",
        "core/api",
        "core/connections",
        "ports",
        "use_cases/owners",
    },
    "use_cases/api": {
        "core/owners",
        "core/schedule",
        "core/ledger",
        "core/jobs",
        "core/history",
        "core/api",
        "core/actions",
        "ports",
    }
    | {"core/firing", "core/recovery", "core/series", "core/timing"}
    | {"use_cases", "use_cases/connections", "use_cases/flow", "use_cases/history", "use_cases/owners"},
    "use_cases/timing": {"core/schedule", "core/ledger", "core/timing", "ports", "use_cases", "use_cases/api"}
    | {"use_cases/connections"},
    "use_cases/series": {
        "core/schedule",
        "core/ledger",
        "core/jobs",
        "core/recurrence",
        "core/series",
        "core/series/upkeep",
        "core/timing",
        "core/api",
        "core/api/series",
    }
    | {"core/connections", "core/flow", "ports", "use_cases", "use_cases/api", "use_cases/connections"}
    | {"use_cases/flow", "use_cases/history"},
    "use_cases/series/upkeep": {
        "core/schedule",
        "core/ledger",
        "core/history",
        "core/series",
        "core/series/upkeep",
        "core/api",
        "ports",
        "use_cases/api",
        "use_cases/series",
    },
    "fakes/connections": set(),
    "fakes/messaging": {"core/schedule", "core/recovery", "ports"},
    "fakes/runtime": {"core/schedule", "core/firing", "ports", "store"},
    "fakes": {"fakes/connections", "fakes/messaging", "fakes/runtime"},
    "sqlite": {"ports", "store"},
    "aws/start": set(),
    "aws/runtime": {"core/schedule", "ports", "aws/start"},
    "aws/store": {"ports", "store", "aws/runtime"},
    "aws/connections": {"ports", "aws/runtime"},
    "aws/deployment": {"core/ledger", "core/actions", "ports"},
    "aws/events": {"core/schedule", "core/history", "ports", "store", "repositories/ledger", "repositories/schedules"}
    | {"aws/store"},
    "aws/messaging": {"core/schedule", "core/recovery", "ports", "aws/runtime", "aws/events"},
    "aws/http": {"core/schedule", "core/ledger", "core/jobs", "core/history", "core/actions", "core/api", "ports"}
    | {"core/masking", "core/owners", "core/series", "core/signing", "core/firing", "core/flow", "core/connections"}
    | {"aws/runtime"},
    "wiring": {"core/schedule", "core/firing", "core/recovery", "core/history", "core/api", "core/actions", "ports"}
    | {"aws/runtime", "aws/store", "core/series", "core/timing"}
    | {
        "repositories/connections",
        "repositories/control",
        "repositories/flow",
        "repositories/journal",
        "repositories/ledger",
        "repositories/registry",
        "repositories/schedules",
        "repositories/series",
    }
    | {
        "core/recurrence",  # the version of the tz database
        "use_cases",
        "use_cases/owners",
        "aws/connections",
        "use_cases/connections",
        "use_cases/series",
        "use_cases/series/upkeep",
        "use_cases/timing",
        "aws/messaging",
        "aws/events",
        "core/flow",
        "use_cases/actions",
        "use_cases/recovery",
        "use_cases/firing",
        "use_cases/flow",
        "use_cases/limits",
        "use_cases/history",
        "use_cases/api",
        "use_cases/signing",
    },
    "wiring/in_memory": {"core/schedule", "core/actions", "core/api", "core/signing", "core/timing", "ports", "fakes"}
    | {"use_cases/actions", "use_cases/flow", "use_cases/limits", "use_cases/owners", "sqlite", "store", "repositories"}
    | {
        "repositories/connections",
        "repositories/control",
        "repositories/flow",
        "repositories/journal",
        "repositories/ledger",
        "repositories/registry",
        "repositories/schedules",
        "repositories/series",
    },
    "extension": {"core/schedule", "core/flow", "core/ledger", "core/firing", "core/history", "core/actions", "ports"}
    | {"aws/runtime", "wiring", "core/timing"},
    "extension/harness": {"core/schedule", "core/ledger", "core/firing", "core/history", "core/api", "ports"}
    | {"fakes/runtime", "wiring", "extension"},
    "extension/policy_harness": {"core/schedule", "core/timing", "core/api"}
    | {"fakes/runtime", "extension", "extension/harness"},
    "targets": {"core/schedule", "core/firing", "core/masking", "core/actions", "ports", "aws/runtime", "extension"},
    "targets/connections": {"core/firing", "core/actions", "core/connections", "ports", "use_cases/connections"}
    | {"extension", "targets"},
}
FUNCTIONS_IMPORT = {
    "wiring",
    "extension",
    "targets",
    "targets/connections",
    "core/api",
    "aws/http",
    "aws/events",
    "aws/runtime",
} | {
    "aws/deployment",  # the answer to CloudFormation
    "core/signing",  # why a secret is not rotated
    "core/api/signing",
    "core/actions",  # the questions to a function
    "core/series",  # what a series refuses
    "core/timing",  # business hours
    "core/recurrence",  # the zones of the pinned tz database
    "core/firing",  # the two ways of a canary; what came of a request
    "core/api/series",
    "use_cases/series",
    "core/connections",
    "use_cases/connections",
    "ports",  # why a connection was not tried
    "use_cases",  # a call and its idempotency key
    "use_cases/api",  # the answers of a use case, which a handler translates
    "use_cases/recovery",  # the operator's commands
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


def room_of(name: str) -> str | None:
    """The room of a module, or of what it holds, by its full name; None for what is not ours."""
    if not name.startswith("delayer."):
        return None
    path = name.removeprefix("delayer.").replace(".", "/") + "/"
    return max((room for room in ROOMS if path.startswith(f"{room}/")), key=len, default=None)


@cache
def files_of(room: str) -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if room_of(module_of(path)) == room]


def module_of(path: Path) -> str:
    return "delayer." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


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


def test_the_sdk_is_imported_by_the_adapters_only() -> None:
    others = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "aws" not in path.parents]
    check(others, *AWS_SDK)
    check(sorted(ROOT.glob("functions/*/app.py")), *AWS_SDK)


def rooms_in(paths: list[Path]) -> set[str]:
    return {room for path in paths for name in imported(path) if (room := room_of(name))}


@of_each(ROOMS)
def test_a_room_imports_what_the_table_says(room: str) -> None:
    """All of it, and nothing else. It takes a second or two: the whole package is parsed."""
    assert rooms_in(files_of(room)) - {room} == ROOMS[room]


def test_each_module_is_in_a_room_and_each_room_has_modules() -> None:
    """The packages around them hold nothing."""
    inside = {path for room in ROOMS for path in files_of(room)}
    assert all(files_of(room) for room in ROOMS)
    around = [PACKAGE / "__init__.py", PACKAGE / "core/__init__.py", PACKAGE / "aws/__init__.py"]
    assert sorted(set(PACKAGE.rglob("*.py")) - inside) == sorted(around)
    assert [path for path in around if list(imported(path))] == []


def test_no_arrow_leads_upwards() -> None:
    names = list(ROOMS)
    assert [(room, one) for room in names for one in ROOMS[room] if names.index(one) >= names.index(room)] == []


def test_functions_import_what_they_translate_and_the_wiring() -> None:
    assert rooms_in(sorted(ROOT.glob("functions/*/app.py"))) == FUNCTIONS_IMPORT


def test_the_wiring_alone_knows_both_the_use_cases_and_the_adapters() -> None:
    """And nobody but the functions, the local stack and the tests knows the wiring."""
    for room, others in ROOMS.items():
        both = {one.partition("/")[0] for one in others} >= {"use_cases", "aws"}
        assert both == (room == "wiring"), room
        wired = room.startswith("extension") and room != "extension/policy_harness"
        assert ("wiring" in others) == wired, "an author's function is wired for it"


def test_the_core_uses_few_libraries() -> None:
    assert outside(files("core")) == {"attrs", "cronsim", "jsonschema", "msgspec", "tzdata"}


def test_the_core_has_no_clock_no_chance_and_no_io() -> None:
    """But for its own contract, which lies beside it. Time is an argument."""
    check(files("core"), "time", "random", "secrets", "socket", "os", "pathlib", "threading", "logging", "urllib")
    for path in files("core"):
        names = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        assert not {name for name in names if name.endswith((".now", ".utcnow", ".today")) or name == "open"}, path


def test_ports_use_cases_and_targets_use_few_libraries() -> None:
    assert outside(files("ports")) == {"attrs"}
    assert outside(files("use_cases")) <= {"attrs", "msgspec"}
    assert outside(files("targets")) <= {"attrs", "msgspec", "urllib3"}


def test_the_fakes_stay_out_of_the_lambdas() -> None:
    """They are for tests, those of others included."""
    users = [room for room, others in ROOMS.items() if any(one.startswith("fakes") for one in others)]
    assert users == [
        "fakes",
        "wiring/in_memory",
        "extension/harness",
        "extension/policy_harness",
    ]
    check(sorted(ROOT.glob("functions/*/app.py")), "delayer.fakes")


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
    everything = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "fakes" not in path.parents]
    assert outside(everything) - {"botocore"} == packages


def test_handlers_are_short() -> None:
    """A handler translates, the core decides."""
    for function in FUNCTIONS:
        lines = (ROOT / f"functions/{function}/app.py").read_text().splitlines()
        longest = 60 if function.startswith(("executor-", "policy-")) else 40  # with the class of its fields
        assert len([line for line in lines if line.strip()]) <= longest, function


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
    assert "delayer.fakes" not in modules
    assert ("jsonschema" in packages) == (function in TAKES_A_BODY | CHECKS_SCHEMAS), "validation is the API's business"


@each_function
def test_a_function_that_has_started_collects_garbage_and_leaves_alone_what_it_has_imported(function: str) -> None:
    assert cold_start(function).collects


@each_function
def test_a_cold_start_imports_no_use_case_of_another_function(function: str) -> None:
    """Those that were wired, those that the handler names, and what these import."""
    named = {name for name in imported(ROOT / f"functions/{function}/app.py") if name.startswith("delayer.use_cases.")}
    needed: set[str] = set()
    waiting = {*cold_start(function).use_cases, *named}
    while waiting:
        path = path_of(waiting.pop())
        if module_of(path) not in needed:
            needed.add(module_of(path))
            waiting |= {name for name in imported(path) if name.startswith("delayer.use_cases.")}
    found = {name for name in cold_start(function).modules if name.startswith("delayer.use_cases.")}
    assert {name for name in found if not is_package(name)} == needed


def path_of(name: str) -> Path:
    """The file of a module, or of the module that holds what is named."""
    path = ROOT / "shared" / name.replace(".", "/")
    return path.with_suffix(".py") if path.with_suffix(".py").exists() else path.parent.with_suffix(".py")


def is_package(name: str) -> bool:
    return (ROOT / "shared" / name.replace(".", "/")).is_dir()


@each_function
def test_a_cold_start_imports_nothing_of_the_api_behind_it(function: str) -> None:
    """Who checks no body and answers no call knows nothing of it; a job cancels and a task replaces as the API does."""
    found = {name for name in cold_start(function).modules if name.startswith(("delayer.core.api", "delayer.aws.http"))}
    if function.startswith("job-") or function == "task-1minute-series":
        assert found == {"delayer.core.api", "delayer.core.api.cancellation"}
    else:
        refusals = {"delayer.core.api", "delayer.core.api.problem"}  # what a policy or a quota would say
        assert bool(found - refusals) == function.startswith("api-")


REPOSITORIES = {  # the modules of repositories that a function imports, of those that not every function does
    "api-default": set[str](),
    "api-job-get": {"registry.jobs"},
    "api-schedule-stop": {"control.control", "ledger.ledger", "schedules.schedule_table"},
    "sweep-bucket-enqueuer": {"control.control", "schedules.schedule_table"},
    "lifecycle-journal": {"journal.journal", "journal.live_count", "registry.lists"},
}


@of_each(REPOSITORIES)
def test_a_cold_start_imports_its_own_repositories_only(function: str) -> None:
    """Each is made, and imported, on first use."""
    inside = "delayer.repositories."
    found = {name.removeprefix(inside) for name in cold_start(function).modules if name.startswith(inside)}
    assert {name for name in found if "." in name} == REPOSITORIES[function]
