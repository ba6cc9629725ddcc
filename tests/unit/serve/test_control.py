"""Operators' commands on an engine: those of the functions, each in a turn; those for many in steps."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.engines.ports import Unavailable
from delayer.serve.operators.control import FUNCTIONS, OperatorCommands
from delayer.serve.turns.parts import NotYet
from delayer.serve.turns.turn import TurnJob
from delayer_client import HttpRequest
from delayer_client.testing import Answer
from tests.client.testing.inside import fake_and_machine

HOOK = HttpRequest(url="https://example.com/hook")


@define(slots=False)
class World:
    """An engine in memory, and an operator whose time goes on only while something waits for its pace."""

    slept: list[float] = field(factory=list)
    turns: int = 0

    def __attrs_post_init__(self) -> None:
        self.fake, self.machine = fake_and_machine()
        self.commands = OperatorCommands(
            machine=self.machine,
            in_turn=self.in_turn,
            status=lambda: {"waiting": 3},
            sleep=self.slept.append,
            monotonic=lambda: sum(self.slept),
        )

    def in_turn(self, do: Callable[[], Any]) -> Any:
        outcomes: list[Any] = []
        self.machine.turn([TurnJob(do=do, deliver=outcomes.append)], calls_only=True)
        self.turns += 1
        [outcome] = outcomes
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def __call__(self, request: object) -> Any:
        line = self.commands(json.dumps(request).encode() + b"\n")
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        return json.loads(line)

    def give(self, function: str, event: Mapping[str, Any]) -> Any:
        """The result of a command."""
        answer = self({"function": function, "event": event})
        assert answer["ok"], answer
        return answer["result"]

    def failed(self, number: int) -> None:
        """So many schedules have failed."""
        self.fake.answer(lambda _: Answer.fail_for_good())
        client = self.fake.client()
        for _ in range(number):
            client.schedule(HOOK, delay=timedelta(seconds=1))
        self.fake.advance(timedelta(seconds=2))


@pytest.fixture
def world() -> World:
    return World()


def test_each_function_of_operators_answers_in_its_own_words(world: World) -> None:
    assert world.give("operator-flow", {"command": "list"})["suspensions"] == []
    assert world.give("operator-owner-policy", {"command": "list"})["owners"] == []
    assert world.give("operator-dead-letters", {"command": "list"}) == {"deadLetters": []}
    assert len(world.give("operator-id-key", {"command": "show"})["keys"]) == 1
    for function in FUNCTIONS:
        answer = world({"function": function, "event": {"command": "x"}})
        assert (answer["ok"], answer["error"][:5]) == (False, "give ")


def test_a_suspension_counts_from_its_answer_on(world: World) -> None:
    world.give("operator-flow", {"command": "suspend", "target": "example.com", "reason": "repairs", "by": "eve"})
    world.fake.client().schedule(HOOK, delay=timedelta(seconds=1))
    world.fake.advance(timedelta(minutes=5))
    assert world.fake.handed_over == ()
    world.give("operator-flow", {"command": "release", "target": "example.com", "by": "eve"})
    world.fake.advance(timedelta(minutes=20))
    assert len(world.fake.handed_over) == 1


def test_the_status(world: World) -> None:
    assert world({"command": "status"}) == {"ok": True, "result": {"waiting": 3}}


@pytest.mark.parametrize("line", [b"\n", b"x\n", b"[]\n", b"{}\n", b'{"function": "api-schedule-post"}\n', b"\xff\n"])
def test_a_line_that_is_no_command_is_answered(world: World, line: bytes) -> None:
    answer = json.loads(world.commands(line))
    assert answer["ok"] is False
    assert '{"command": "status"}' in answer["error"]
    assert world.turns == 0


# ------------------------------------------------------------ for many


def test_a_command_for_many_takes_a_turn_for_each_step_and_keeps_its_pace(world: World) -> None:
    """What is due is fired between two of them, however many there are."""
    world.failed(35)
    where = {"prefix": "failed/"}
    event = {"command": "redrive", "where": where, "perSecond": 20, "by": "eve"}
    done, answers = 0, 0
    result = world.give("operator-dead-letters", event)
    where["until"] = result["until"]
    while True:
        assert result["redriven"] <= 20, "one step is short"
        done, answers = done + result["redriven"], answers + 1
        if "next" not in result:
            break
        result = world.give("operator-dead-letters", {**event, "after": result["next"]})
    assert (done, answers == world.turns, answers > 3) == (35, True, True)
    assert sum(world.slept) == pytest.approx(35 / 20)
    world.fake.answer(lambda _: Answer.http(200))
    world.fake.advance(timedelta(minutes=1))
    assert len(world.fake.handed_over) == 70
    assert world.give("operator-dead-letters", {"command": "list"})["deadLetters"] == []


def test_to_count_them_takes_no_time(world: World) -> None:
    world.failed(12)
    result = world.give("operator-dead-letters", {"command": "discard", "where": {}, "dryRun": True})
    assert result["matched"] >= 10
    assert sum(world.slept) == 0


def test_an_order_that_is_wrong_is_refused(world: World) -> None:
    answer = world({"function": "operator-dead-letters", "event": {"command": "redrive", "where": {"colour": "red"}}})
    assert answer == {"ok": False, "error": answer["error"]}
    assert "colour" in answer["error"]


# ------------------------------------------------------------ what goes wrong


def test_a_commit_that_fails_is_no_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator hears that nobody knows, and nothing was changed."""
    commit = type(world.machine.database).commit

    def fail(database: Any) -> None:
        database.rollback()
        raise Unavailable("commit: disk I/O error")

    monkeypatch.setattr(type(world.machine.database), "commit", fail)
    event = {"command": "suspend", "target": "example.com", "reason": "r"}
    assert world({"function": "operator-flow", "event": event}) == {"failed": "commit: disk I/O error"}
    monkeypatch.setattr(type(world.machine.database), "commit", commit)
    assert world.give("operator-flow", {"command": "list"})["suspensions"] == []


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), NotYet(), Unavailable("x")], ids=repr)
def test_a_function_that_raises_harms_only_its_command(world: World, error: BaseException) -> None:
    def raises(_event: object, _context: object) -> None:
        raise error

    module = world.machine.function("operator-flow")
    handler, module.handler = module.handler, raises
    assert "failed" in world({"function": "operator-flow", "event": {"command": "list"}})
    module.handler = handler
    assert world.give("operator-flow", {"command": "list"})["circuits"] == []


def test_an_engine_that_does_not_answer(world: World) -> None:
    def silent(_do: object) -> None:
        raise Unavailable("the engine has ended")

    commands = evolve(world.commands, in_turn=silent)
    answer = json.loads(commands(b'{"function": "operator-flow", "event": {"command": "list"}}\n'))
    assert answer == {"failed": "the engine has ended"}
