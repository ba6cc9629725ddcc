"""Which functions run on one machine: each of `functions/` does, or there is a reason why not."""

import pytest

from delayer.actions.rules.foreign import built_in
from delayer.extension.executor import LambdaExecutor
from delayer.http.routing import OTHERWISE, ROUTES
from delayer.serve.turns.machine import EXECUTOR, POLICY
from delayer.serve.turns.reactions import ABSENT
from delayer.wiring.manifest import MANIFEST
from delayer.wiring.pump import QueueSource
from tests.cfn import ROOT
from tests.unit.serve.machines import Running

FUNCTIONS = {path.parent.name for path in ROOT.glob("functions/*/app.py")}
OF_CALLS = {function for methods in ROUTES.values() for function in methods.values()} | {OTHERWISE}
# Without a source: somebody invokes them, and waits. Also the one that has another source beside that.
OF_OPERATORS = {one for one in FUNCTIONS if one.startswith("operator-")}
OF_ACTIONS = {EXECUTOR + kind for kind in built_in()} & FUNCTIONS - set(ABSENT)


@pytest.fixture(scope="module")
def running() -> Running:
    return Running(targets=None, each_minute=True)


def test_each_function_runs_or_there_is_a_reason(running: Running) -> None:
    runs = {*running.machine.uses, *OF_CALLS, *OF_ACTIONS, *OF_OPERATORS}
    assert FUNCTIONS - runs == set(ABSENT)
    assert runs <= FUNCTIONS
    assert all(reason and not reason.endswith(".") for reason in ABSENT.values())


@pytest.mark.parametrize("function", sorted(OF_CALLS))
def test_calls_are_answered_by_the_function_itself(running: Running, function: str) -> None:
    assert callable(running.machine.function(function).handler.answer)


@pytest.mark.parametrize("function", sorted(OF_ACTIONS))
def test_an_executor_is_made_of_the_function(running: Running, function: str) -> None:
    kind = function.removeprefix(EXECUTOR)
    assert isinstance(running.machine.function(function).handler, LambdaExecutor)
    assert running.machine.executor(kind).queue.name == function


@pytest.mark.parametrize("function", sorted(OF_OPERATORS))
def test_a_command_of_an_operator_is_answered(running: Running, function: str) -> None:
    command = "show" if function == "operator-id-key" else "list"
    assert running.machine.function(function).handler({"command": command}, None)["ok"]


def test_what_starts_them_is_what_starts_them_in_a_stack(running: Running) -> None:
    """All that the manifest gives a source and that runs here has one here, or is told at once."""
    machine = running.machine
    started = {one.function for one in [*machine.sources, machine.telling]}
    at_once = {"series-stepper", "lifecycle-journal"}
    assert set(machine.uses) == started | at_once
    named = {one.function for one in MANIFEST if one.sources and not one.function.endswith("*")}
    elsewhere = OF_CALLS | OF_OPERATORS | set(ABSENT)
    assert named - elsewhere <= set(machine.uses)


def test_each_policy_has_a_queue(running: Running) -> None:
    policies = {one for one in FUNCTIONS if one.startswith(POLICY)}
    assert policies == {one.function for one in running.machine.sources if isinstance(one, QueueSource)} & policies
