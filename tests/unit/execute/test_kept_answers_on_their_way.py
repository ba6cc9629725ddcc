"""What is kept of an answer reaches the history, and nothing else."""

import json
from typing import Any

from delayer.accept.routes import shown, shown_event
from delayer.accept.rules.status import Status
from delayer.actions.rules.model import Done, Refused, Retry
from delayer.execute.rules import Made, carried, made_of
from delayer.history import cloud_events
from delayer.history.received import decode
from delayer.history.rules import whole
from delayer.ledger.model import State
from delayer.ledger.repository import from_item, to_item
from delayer.ledger.rules import contested, ended, retried, stopped
from delayer.schedule.instants import HOUR, SECOND, parse_instant
from delayer.schedule.messages import OutcomeMessage, encode
from delayer.schedule.messages import decode as decode_message
from tests.samples import NOW, a_claim, an_executor_message
from tests.world import START, World

ANSWER = '{"status":503,"durationMs":4,"body":"busy"}'


def history_of(world: World, schedule_id: str) -> list[dict[str, Any]]:
    world.update_journal()
    return [shown_event(event) for event in whole(schedule_id, world.journal.history(schedule_id, "owner"))]


def test_each_attempt_has_its_own_answer_in_the_history() -> None:
    world = World()
    world.target.answers = [
        Retry(detail="HTTP 503", answer=ANSWER),
        Retry(detail="no answer"),
        Done("HTTP 200", answer='{"status":200,"durationMs":1}'),
    ]
    schedule = world.post(START + SECOND)
    assert schedule
    world.run_until(START + HOUR)
    found = [(one["event"], one.get("answer")) for one in history_of(world, schedule.id) if "attempt" in one]
    answers = [None if answer is None else json.loads(bytes(answer)) for _, answer in found]
    assert [kind for kind, _ in found] == ["claimed", "attempt-failed", "attempt-failed", "executed"]
    assert answers == [None, json.loads(ANSWER), None, {"status": 200, "durationMs": 1}]


def test_each_attempt_has_its_own_lateness_in_the_history() -> None:
    world = World()
    world.target.answers = [Retry(detail="HTTP 503", after_seconds=60), Done("HTTP 200")]
    schedule = world.post(START + SECOND)
    assert schedule
    world.run_until(START + HOUR)
    failed, executed = [one for one in history_of(world, schedule.id) if "attemptLatenessMs" in one]
    assert (failed["event"], failed["attemptLatenessMs"]) == ("attempt-failed", failed["latenessMs"])
    assert (executed["event"], executed["attempt"]) == ("executed", 2)
    assert executed["attemptLatenessMs"] == parse_instant(executed["at"]) - parse_instant(failed["nextAttemptAt"])


def test_the_state_does_not_show_it() -> None:
    row = ended(a_claim(), State.EXECUTED, NOW, "HTTP 200", ANSWER)
    assert "answer" not in shown(Status(schedule_id=row.schedule_id, state=row.state, row=row))


def test_the_next_row_leaves_it_out() -> None:
    row = retried(a_claim(), "f", NOW, "HTTP 503", answer=ANSWER, attempted_at=NOW)
    assert (row.answer, row.attempted_at) == (ANSWER, NOW)
    assert from_item(to_item(row)) == row
    for later in (contested(row), stopped(row, NOW), ended(row, State.DROPPED, NOW)):
        assert (later.answer, later.attempted_at) == ("", 0)
    assert "answer" not in to_item(a_claim()), "a row without it stays as small as it was"


def test_a_carried_outcome_takes_it_along() -> None:
    for result in (
        Done("d", answer=ANSWER),
        Retry(detail="d", after_seconds=5, answer=ANSWER),
        Refused("d", answer=ANSWER),
    ):
        made = Made(message=an_executor_message(), result=result, lateness=3)
        read = decode_message(encode(carried(made)), OutcomeMessage)
        assert made_of(read) == made


def test_a_subscriber_sees_what_the_owner_sees() -> None:
    world = World()
    world.target.answers = [Done("HTTP 200", answer=ANSWER)]
    schedule = world.post(START + SECOND)
    assert schedule
    world.run_until(START + HOUR)
    world.update_journal()
    [last] = [event for event in world.journal.history(schedule.id, schedule.owner) if event.type == "executed"]
    text = cloud_events.encode(last)
    assert cloud_events.decode(text) == last
    assert decode(text).cloud_event["data"]["answer"] == json.loads(ANSWER)
