"""The manifest says what the template and the functions do: it is what all stacks in memory are moved by."""

import ast
import json
from collections.abc import Iterator
from typing import Any

from delayer.schedule.instants import SECOND
from delayer.wiring.manifest import ANNOUNCES, MANIFEST, EachMinute, FromQueue, FromStream, Reaction, reaction_of
from tests.cfn import ROOT, deployed, functions, logical, logical_names, resources
from tests.running.of_each import of_each
from tests.world import World

EACH = sorted(functions())
FOLDERS = {name: folder for folder, name in logical_names().items()}  # by the logical name of the function
FAMILIES = {  # what stands around the function that a file of the family gives
    "executor-": ("shared/delayer/wiring/executor.py", "handler_of"),
    "policy-": ("shared/delayer/wiring/consumers.py", "policy_handler"),
    "subscriber-": ("shared/delayer/wiring/consumers.py", "subscriber_handler"),
}
# What executors receive while they wait, in Lambda alone; what a target needs; and what answers who waits for it.
BESIDE = {"wiring.use_cases.refill", "wiring.use_cases.credentials", "actions.describe.Describe"}
OWN = {  # what is in no bundle
    "wiring.use_cases.execute": ("target",),
    "timing.decide.Decide": ("choose",),
    "history.deliver.Deliver": ("read",),
}
each_function = of_each(EACH)


def sources(function: str, kind: type) -> Iterator[Any]:
    """Those of one kind that the manifest has for a function."""
    return (one for one in reaction_of(function).sources if isinstance(one, kind))


def logical_queue(queue: str, function: str) -> str:
    """`delayer` is DelayerQueue, and that of `executor-http-request` ExecutorhttprequestQueue."""
    kind, _, name = (function if queue.endswith("-*") else queue).partition("-")
    return f"{kind.capitalize()}{name.replace('-', '')}Queue"


def test_each_function_has_a_row_and_each_row_a_function() -> None:
    rows = [one.function for one in MANIFEST]
    assert len(rows) == len(set(rows))
    assert {reaction_of(function).function for function in EACH} == set(rows)
    assert {path.parent.name for path in ROOT.glob("functions/*/app.py")} == set(EACH)


def test_the_stream_of_a_table_has_one_reader_beside_those_that_announce() -> None:
    """A stack in memory has one stream for each."""
    read = [one.table for row in MANIFEST if row.use != ANNOUNCES for one in row.sources if isinstance(one, FromStream)]
    assert sorted(read) == sorted(World().streams)


def mappings() -> dict[tuple[str, str], dict[str, Any]]:
    """What Lambda reads for a function, by its folder and the logical name of the table or queue."""
    made = [
        one["Properties"]
        for one in deployed()["Resources"].values()
        if one["Type"] == "AWS::Lambda::EventSourceMapping"
    ]
    return {(FOLDERS[logical(one["FunctionName"])], logical(one["EventSourceArn"])): one for one in made}


def of_manifest() -> dict[tuple[str, str], FromStream | FromQueue]:
    """The same, as the manifest has it."""
    streams = {(name, f"{one.table.capitalize()}Table"): one for name in EACH for one in sources(name, FromStream)}
    queues = {(name, logical_queue(one.name, name)): one for name in EACH for one in sources(name, FromQueue)}
    return {**streams, **queues}


def test_what_lambda_reads_is_in_the_manifest_and_the_other_way_round() -> None:
    there, here = mappings(), of_manifest()
    assert set(there) == set(here)
    assert {place: one["BatchSize"] for place, one in there.items()} == {
        place: one.batch for place, one in here.items()
    }
    assert {str(one["FunctionResponseTypes"]) for one in there.values()} == {"['ReportBatchItemFailures']"}


def filter_of(source: FromStream | FromQueue) -> set[str]:
    """What the patterns of a mapping are about; tests/template/test_streams.py says what those of the ledger let in."""
    match source:
        case FromStream(events=events) if events:
            return {json.dumps({"eventName": [*events]})}
        case FromStream(of_occurrences=bool(alone)):
            words = [["occurrence"], ["relaxed-occurrence"]]
            others = [[{"exists": False}], [{"anything-but": ["occurrence", "relaxed-occurrence"]}]]
            return {
                json.dumps({"dynamodb": {"NewImage": {"kind": {"S": one}}}}) for one in (words if alone else others)
            }
    return set()


def test_what_lambda_lets_through_is_in_the_manifest() -> None:
    there = {
        place: {pattern["Pattern"] for pattern in one.get("FilterCriteria", {}).get("Filters", [])}
        for place, one in mappings().items()
    }
    assert there == {place: filter_of(one) for place, one in of_manifest().items()}


def test_what_runs_each_minute() -> None:
    [rule] = resources("AWS::Events::Rule").values()
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    there = {FOLDERS[logical(one["Arn"])]: one.get("Input", "") for one in rule["Targets"]}
    assert there == {function: one.given for function in EACH for one in sources(function, EachMinute)}


def test_who_gets_which_events() -> None:
    """A subscriber has a policy of its own."""
    there = {
        queue["Fn::GetAtt"].partition(".")[0]: one["FilterPolicy"]
        for one in resources("AWS::SNS::Subscription").values()
        if one["Protocol"] == "sqs" and "Fn::GetAtt" in (queue := one["Endpoint"])
    }
    here = {
        logical_queue(one.name, function): one.gets
        for function in EACH
        for one in sources(function, FromQueue)
        if one.gets is not None and not function.startswith("subscriber-")
    }
    assert there == here
    assert {one.function for one in MANIFEST if one.queue and one.queue.gets == {}} == {"subscriber-*"}


@each_function
def test_its_times_are_those_of_the_template(function: str) -> None:
    """Leases and retries hang on them."""
    assert functions()[function]["Timeout"] * SECOND == reaction_of(function).timeout
    queues = resources("AWS::SQS::Queue")
    for one in sources(function, FromQueue):
        assert queues[logical_queue(one.name, function)]["VisibilityTimeout"] * SECOND == one.hidden
        assert queues[logical_queue(one.name, function)].get("FifoQueue", False) == one.fifo


def made_in(path: str, within: str = "") -> set[str]:
    """What a file, or a function in it, makes of its bundle, as the manifest names it."""
    tree: ast.AST = ast.parse((ROOT / path).read_text())
    modules = {
        name.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    if within:
        [tree] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == within]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    built = [ast.unparse(one.args[0]) for one in calls if ast.unparse(one.func) == "build"]
    called = [ast.unparse(one.func).rpartition(".") for one in calls]
    factories = [
        name
        for owner, _, name in called
        if owner == "use_cases" or (not owner and modules.get(name) == "delayer.wiring.use_cases")
    ]
    return {f"{modules[one]}.{one}".removeprefix("delayer.") for one in built} | {
        f"wiring.use_cases.{one}" for one in factories
    }


@each_function
def test_it_makes_what_the_manifest_says(function: str) -> None:
    """Its own file does; for an executor, a policy or a subscriber that of its family, too."""
    row, path = reaction_of(function), f"functions/{function}/app.py"
    family = next((frame for beginning, frame in FAMILIES.items() if function.startswith(beginning)), None)
    made = made_in(path) | (made_in(*family) if family else set())
    if gives_work(row):
        assert made - BESIDE == {row.use, row.around} - {""}
        assert row.use
    else:
        assert (row.use, row.around) == ("", ""), "it says so itself"
    if row.gives_back:
        assert f"queue=ports.{row.gives_back})" in (ROOT / (family[0] if family else path)).read_text()


def gives_work(row: Reaction) -> bool:
    """Whether something else than an answer is wanted of it."""
    return any(isinstance(one, FromStream | FromQueue | EachMinute) for one in row.sources)


def test_a_use_case_is_made_by_its_name_alone() -> None:
    """With what stands around it."""
    world = World()
    for one in (one for one in MANIFEST if gives_work(one)):
        own = dict.fromkeys(OWN.get(one.use, ()), str)
        made = one.made(world.ports(one.function), **own)
        module, _, name = one.use.rpartition(".")
        assert type(made).__name__ == (name.title().replace("_", "") if module == "wiring.use_cases" else name)
        around = one.within(world.ports(one.function), made)
        assert type(around).__name__ == (one.around.rpartition(".")[2] or type(made).__name__)
        assert bool(getattr(around, "queue", None)) == bool(one.gives_back)
