"""One factory for each use case, which touches the parts of a bundle that it needs, and no others."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import Factory, define, evolve

from delayer.core.timing.deciding import At
from delayer.fakes.runtime.target import ScriptedTarget
from delayer.wiring import connections, use_cases
from delayer.wiring.bundle import Bundle, Settings
from tests.cfn import ROOT
from tests.functions.cold_start import cold_start
from tests.running.of_each import of_each
from tests.world import World

IDS = {"clock", "control", "randomness", "pick", "settings.shards", "actions"}
SPENDING = {"clock", "settings.limits", "rate_limit", "owner_policies"}
QUOTA = {*SPENDING, "observer", "fail_fast_live_count", "actions"}
DEAD_LETTERS = {"clock", "observer", "ledger", "dead_letter_store", "source"}
FLOW = {"clock", "observer", "blocks", "actions"}
REDRIVE = {"clock", "observer", "ledger", "dead_letter_store", "timed_records", "series", "delayer_queue"} | {
    "read_dead_letter",
    "new_token",
    "settings.period",
}
STEPS = {*IDS, "observer", "series", "settings.keep_for"}
OUTLINES = {"fail_fast_journal", "settings.has_journal", "actions", "observer"}
BEGINS = {*IDS, *QUOTA, "connections", "series", "new_series_id"}
PARTS: dict[str, set[str]] = {
    "id_check": {"clock", "control"},
    "ids": IDS,
    "quota": QUOTA,
    "once": {"clock", "registry"},
    "dead_letters": DEAD_LETTERS,
    "accept": {"connections", *IDS, *QUOTA, "records", "ledger", "registry", "settings.policies"},
    "accept_many": {"connections", *IDS, *QUOTA, "records", "ledger", "registry", "parallel", "settings.policies"},
    "replace": {
        "connections",
        *IDS,
        *QUOTA,
        "records",
        "ledger",
        "registry",
        "fail_fast_journal",
        "settings.has_journal",
    },
    "lookup": {*FLOW, "control", "records", "ledger", "registry"}
    | {"fail_fast_journal", "settings.has_journal", "settings.period"},
    "list_schedules": {"clock", "control", "records", "ledger", "registry"} | {"journal", *OUTLINES},
    "outlines": OUTLINES,
    "cancel": {"clock", "observer", "control", "records", "waiting_records", "ledger", "registry"},
    "cancel_of_series": {"clock", "observer", "control", "timed_records", "ledger", "registry"},
    "stop": {"clock", "observer", "control", "ledger", "waiting_records"},
    "forgotten": {"clock", "ledger", "waiting_records"},
    "begin_cancel_group": {"clock", "observer", "jobs", "group_queue", "new_job_id", "new_token"},
    "get_job": {"jobs"},
    "cancel_group": {
        "clock",
        "observer",
        "control",
        "records",
        "waiting_records",
        "timed_records",
        "ledger",
        "registry",
    }
    | {"jobs", "group_queue", "parallel", "new_token", "series", "settings.keep_for"},
    "end_series_of_group": {"clock", "observer", "control", "timed_records", "ledger", "registry", "series"}
    | {"parallel", "settings.keep_for"},
    "enqueue": {*DEAD_LETTERS, "trials", "schedules", "control", "delayer_queue", "new_token", "settings.period"},
    "enqueue_timing": {"observer", "policy_queues", "ledger", "waiting_records"},
    "ask_policies": {"observer", "policy_queues"},
    "timing_net": {"clock", "observer", "control", "waiting", "policy_queues"},
    "decide": {"connections", *IDS, "observer", "waiting_records", "ledger", "registry"},
    "tick": {"clock", "observer", "parallel", "schedules", "control", "delayer_queue", "sweep_queue"}
    | {"settings.period", "settings.has_canary", "settings.backlog_mark", "settings.heartbeats", "dead_letter_store"}
    | {"stream_consumer"},
    "send_canary": {*IDS, "observer", "schedules", "settings.period"},
    "sweep_buckets": {"clock", "observer", "schedules", "control", "delayer_queue", "settings.backlog_mark"},
    "gate": FLOW,
    "waits": FLOW,
    "operate_flow": {*FLOW, "lines", "delayer_queue"},
    "breaker": FLOW,
    "relay": {
        *DEAD_LETTERS,
        *FLOW,
        "lines",
        "delayer_queue",
        "executor_queues",
        "ledger_in_batches",
        "new_token",
        "settings.lease",
        "settings.lead",
    },
    "refill": {"observer", "own_queue", "seats", "slots", "background", "settings.suspects"},
    "execute": {*DEAD_LETTERS, *FLOW, "lines", "seats", "slots"}
    | {"ledger_in_batches", "new_meeting", "owner_policies", "own_queue", "parallel", "new_token"},
    "guard": {*DEAD_LETTERS, "trials", "settings.suspects"},
    "count_waiting": {"clock", "observer"},
    "dispatch_suspects": {"observer", "consumers", "settings.stack"},
    "bring_back": {"clock", "parallel", "observer", "dead_letter_store", "stream_consumer"},
    "redrive": REDRIVE,
    "bulk": {*REDRIVE, "parallel"},
    "keep_id_keys": {"clock", "observer", "control", "randomness", "signing_rows"},
    "keep_signing_keys": {"clock", "observer", "signing_rows", "randomness"},
    "own_secrets": {"clock", "observer", "signing_rows"},
    "sign": {"clock", "signing_rows"},
    "register": {"action_rows", "executor_remote", "observer", "settings.stack_id"},
    "callers": {"clock", "observer", "control", "owner_claim", "settings.stack_id"},
    "owner_policy_commands": {"clock", "observer", "owner_policy_rows", "actions", "settings.max_live"}
    | {"settings.policies"},
    "describe": {"function_at"},
    "list_actions": {"actions"},
    "occurrences": {"clock", "series", "ledger"},
    "retention": {"clock", "settings.keep_for"},
    "step_series": STEPS,
    "halt_series": {
        "clock",
        "observer",
        "control",
        "timed_records",
        "ledger",
        "registry",
        "series",
        "settings.keep_for",
    },
    "begin_series": BEGINS,
    "create_series": {*BEGINS, "registry", "settings.has_events"},
    "put_series": {*BEGINS, *STEPS, "ledger", "registry", "settings.has_events"},
    "read_series": {*FLOW, "series", "ledger"},
    "list_series": {"clock", "series"},
    "list_occurrences": {"clock", "series", "ledger", "timed_records", "journal", *OUTLINES},
    "preview_series": {"clock"},
    "change_series": {"connections", *STEPS, *QUOTA, "ledger", "registry"},
    "resume_series": {*STEPS, "ledger", "registry", "timed_records"},
    "run_series": {*STEPS, *QUOTA, "ledger", "registry"},
    "react_to_events": {*STEPS, "parallel"},
    "series_tick": {*STEPS, "parallel", "ledger", "series_upkeep", "series_progress"},
    "claim_relaxed": {*DEAD_LETTERS, "ledger_in_batches", "trials", "executor_queues", "new_token", "settings.lease"},
    "spending": SPENDING,
    "naming": {"connections"},
    "still_named": {"connections"},
    "put_connection": {"clock", "observer", "connections", "secrets", "new_series_id", "owner_policies", "randomness"},
    "delete_connection": {"clock", "observer", "connections", "secrets", "ledger"},
    "read_connections": {"clock", "connections", "ledger"},
    "find_live": {"clock", "connections", "ledger"},
    "sweep_secrets": {"clock", "observer", "connections", "secrets"},
    "credentials": {"clock", "observer", "connections", "secrets", "token_rows", "seal", "owner_policies"},
    "reach": {"owner_policies"},
    "permit_test": {"blocks", "clock", "connections", "observer", *SPENDING},
    "announce": {"topic", "observer", "settings.event_source"},
    "deliver": {"observer"},
    "write_journal": {"journal", "live_count", "observer", "settings.max_live", "settings.keep_for"},
}
FACTORIES: dict[str, Callable[..., Any]] = {
    name: one
    for module in (use_cases, connections)
    for name, one in vars(module).items()
    if inspect.isfunction(one) and one.__module__ == module.__name__ and not name.startswith("_")
}
MORE: dict[str, list[Any]] = {
    "execute": [ScriptedTarget(World().clock)],
    "guard": [lambda batch: []],
    "callers": [lambda command: ""],
    "count_waiting": [lambda batch: []],
    "refill": [use_cases.guard(World().ports("guard"), lambda batch: []), lambda: True],
    "deliver": [lambda event: None],
    "decide": [lambda schedule: At(schedule.created_at)],
    "credentials": [lambda values, left: None],
}  # what a factory takes beside its bundle


@define
class Noting:
    """Passes on some parts of a bundle and notes which were touched. Another part is an error: AWS has no adapter."""

    whole: Any
    allowed: set[str]
    prefix: str = ""
    touched: set[str] = Factory(set)

    def __getattr__(self, name: str) -> Any:
        if name == "settings":
            return Noting(self.whole.settings, self.allowed, "settings.", self.touched)
        part = self.prefix + name
        assert part in self.allowed, f"it does not need {part}"
        self.touched.add(part)
        return getattr(self.whole, name)


def test_each_factory_is_here_and_each_part_is_of_the_bundle() -> None:
    assert set(PARTS) == set(FACTORIES)
    parts = {name for name in vars(Bundle) if isinstance(vars(Bundle)[name], property)} - {"settings"}
    settings = {f"settings.{name}" for name in vars(Settings) if isinstance(vars(Settings)[name], property)}
    assert set().union(*PARTS.values()) == parts | settings, "nobody needs the others"


@of_each(PARTS)
def test_a_factory_touches_what_its_use_case_needs(name: str) -> None:
    """So a function makes no adapter, and reads no setting, that it does not use."""
    ports = Noting(World().ports(name), PARTS[name])
    made = FACTORIES[name](ports, *MORE.get(name, []))
    assert ports.touched == PARTS[name]
    assert type(made).__module__.startswith("delayer.use_cases.")


def test_what_no_bundle_has_is_an_error() -> None:
    with pytest.raises(AttributeError, match="teapot"):
        _ = World().ports("accept").teapot


def test_each_tick_has_a_canary_where_it_is_switched_on() -> None:
    world = World()
    world.settings = evolve(world.settings, has_canary=True)
    ports = Noting(world.ports("tick"), PARTS["tick"] | PARTS["send_canary"])
    assert use_cases.tick(ports).canary is not None
    assert ports.touched == PARTS["tick"] | PARTS["send_canary"]


@of_each(
    [
        ("replace", "has_journal", False, {"fail_fast_journal"}),
        ("lookup", "has_journal", False, {"fail_fast_journal"}),
        ("list_schedules", "has_journal", False, {"journal", "fail_fast_journal"}),
        ("write_journal", "max_live", 0, {"live_count"}),
    ],
    unpacked=True,
)
def test_what_is_switched_off_is_not_made(name: str, setting: str, value: object, spared: set[str]) -> None:
    world = World()
    settings = world.settings

    class Switched:
        def __getattr__(self, name: str) -> Any:
            return value if name == setting else getattr(settings, name)

    world.settings = Switched()  # type: ignore[assignment] # it has all that settings have
    ports = Noting(world.ports(name), PARTS[name] - spared)
    FACTORIES[name](ports)
    assert ports.touched == PARTS[name] - spared


CLASSES = {one.__annotations__["return"].strip('"') for one in FACTORIES.values()}
OF_MODULE = {
    Path(str(module.__file__)): {
        one.__annotations__["return"].strip('"') for one in FACTORIES.values() if one.__module__ == module.__name__
    }
    for module in (use_cases, connections)
}
COMPOSERS = [
    *sorted((ROOT / "functions").glob("*/app.py")),
    *sorted((ROOT / "shared/delayer").rglob("*.py")),
    ROOT / "tests/world.py",
    *sorted((ROOT / "tests/simulation").rglob("*.py")),
]


@of_each(COMPOSERS)
def test_nobody_else_puts_a_use_case_together(path: Path) -> None:
    """The functions, the tests' world and the simulation call the factories: what they prove is what runs."""
    text = path.read_text()
    if "delayer.use_cases." not in text:
        assert path not in OF_MODULE
        return  # to parse all files takes seconds
    nodes = list(ast.walk(ast.parse(text)))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    known = {one.name for node in imports for one in node.names if str(node.module).startswith("delayer.use_cases.")}
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    made = {node.id for node in calls if isinstance(node, ast.Name)} & CLASSES & known
    assert made == OF_MODULE.get(path, set())


FUNCTIONS = sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))
WITHOUT = {"api-default"}
TWO = {
    "api-connection-put",  # stores, and deletes
    "executor-remote",  # also what a function of another stack says
    "api-series-get",  # a series, and what became of its occurrences
    "executor-http-request",  # what signs its requests
}
THREE = {"api-connection-test"}  # whether it may be tried, what it takes along, and what signs it
SHARED = {"Spending", "Reach"}  # of owner policies
SHARED |= {"DeadLetters", "IdCheck", "Ids", "Quota", "Redrive"}  # Redrive: of the commands for one and for many
SHARED |= {"Retention", "Occurrences", "Begin", "StepSeries"}  # of series
SHARED |= {"Gate", "Breaker", "Limits"}  # of the relay, and of the executors
SHARED |= {"Waits"}  # of lookups
SHARED |= {"Naming", "StillNamed", "FindLive", "SweepSecrets"}  # of what names a connection
SHARED |= {"AskPolicies"}  # of a stream, and of the net under it
SHARED |= {"Forgotten"}  # of a cancel, and of a stop
SHARED |= {"Outlines"}  # of two lists
SHARED |= {"Once"}  # of calls with an idempotency key
KNOWLEDGE = {"RegisteredActions"}  # of the registered types; the target of executor-remote holds it
KNOWLEDGE |= {"KnownOwnerPolicies"}  # of what owners may do
PARTS_OF_ONE = {"SendCanary", "EndSeriesOfGroup"}  # the tick holds the one, the cancel of a group the other
PARTS_OF_ONE |= {"KeepSigningKeys"}  # operator-id-key holds it


@of_each(FUNCTIONS)
def test_a_function_wires_one_use_case(function: str) -> None:
    """It holds no other, but for those that this one holds."""
    wired = [name for name in cold_start(function).outermost if name not in KNOWLEDGE]
    assert set(wired) <= CLASSES
    assert len(wired) == (0 if function in WITHOUT else 3 if function in THREE else 2 if function in TWO else 1)


def test_each_use_case_is_wired_by_a_function_or_is_a_part_of_several() -> None:
    held = {
        "Relay",
        "Execute",
        "Permit",
        "BringBack",
        "ReactToEvents",
        "Register",
        "AsPosted",
        "CancelGroup",
        "SweepBuckets",
        "WriteJournal",
    }  # by what is around them
    assert {
        name for function in FUNCTIONS for name in cold_start(function).outermost if name not in KNOWLEDGE
    } == CLASSES - SHARED - PARTS_OF_ONE - held
