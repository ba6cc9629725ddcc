"""Events of occurrences step their series; nothing that is wrong with one of them stops the others."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.ports import ReceivedMessage, Unavailable
from delayer.ledger.model import EventType
from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.schedule.schedule_id import key_of
from delayer.series.rules.series import SeriesState
from delayer.series.rules.stepping import Happened
from tests.looking import all_rows
from tests.unit.series.upkeep.stage import Stage
from tests.world import START


def test_a_claim_puts_the_next_occurrence() -> None:
    stage = Stage()
    first = stage.create()
    assert stage.react([stage.event(first)]) == []
    cursor = stage.cursor()
    assert (cursor.number, cursor.at) == (2, START + 2 * MINUTE)
    assert stage.world.observer.counts["SeriesStepped"] == 1


@pytest.mark.parametrize(
    "kind", [EventType.SCHEDULED, EventType.ENQUEUED, EventType.REDRIVEN, EventType.EXECUTED, EventType.CLAIMED_AGAIN]
)
def test_whatever_else_comes_is_taken_and_does_no_harm(kind: EventType) -> None:
    stage = Stage()
    first = stage.create()
    stage.react([stage.event(first)])
    before = stage.cursor()
    assert stage.react([stage.event(first, kind), stage.event(first)]) == []
    assert stage.cursor() == before


@pytest.mark.parametrize(
    "body",
    ["", "{}", '{"specversion": "2.0"}', '{"type": "delayer.schedule.claimed.v2"}'],
    ids=["empty", "no event", "a later version", "a later type"],
)
def test_an_event_that_cannot_be_read_waits_and_its_neighbours_do_not(body: str) -> None:
    """A later release reads it; until then the net steps the series."""
    stage = Stage()
    first = stage.create()
    unknown = ReceivedMessage(message_id="unknown", body=body)
    assert stage.react([unknown, stage.event(first)]) == ["unknown"]
    assert stage.cursor().number == 2


def test_an_event_of_a_type_that_only_a_later_version_knows_waits() -> None:
    stage = Stage()
    first = stage.create()
    event = stage.event(first)
    later = evolve(event, body=event.body.replace("delayer.schedule.claimed", "delayer.schedule.begun"))
    assert stage.react([later]) == [event.message_id]
    assert stage.cursor().number == 1


@pytest.mark.parametrize("error", [Unavailable("DynamoDB is away"), RuntimeError("secret-of-a-client")])
def test_only_what_fails_comes_again(error: Exception) -> None:
    """And nothing that a client sent is in the log."""
    stage = Stage()
    one, two = stage.create("0a"), stage.create("0b")

    def step(happened: Happened) -> None:
        if happened.schedule_id == one:
            raise error
        stage.react.step_series(happened)

    react = evolve(stage.react, step_series=step)
    assert react([stage.event(one), stage.event(two)]) == [stage.event(one).message_id]
    assert (stage.cursor("0a").number, stage.cursor("0b").number) == (1, 2)
    assert stage.world.observer.warnings == ["a series waits"]
    assert "secret-of-a-client" not in str(stage.world.observer.lines)


class Latest:
    """Does the last of the items first, as what runs side by side may, and remembers how many there were."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def map(self, do: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        at_once = list(items)
        self.sizes.append(len(at_once))
        return [do(one) for one in reversed(at_once)][::-1]


def test_the_claim_and_the_end_of_one_occurrence_do_not_step_side_by_side() -> None:
    """Both would write the same transaction, and DynamoDB bills the one that loses, too."""
    stage, parallel = Stage(), Latest()
    one, two = stage.create("0a"), stage.create("0b")
    batch = [stage.event(one), stage.event(two), stage.event(one, EventType.EXECUTED)]
    assert evolve(stage.react, parallel=parallel)(batch) == []
    assert parallel.sizes == [2]
    assert (stage.cursor("0a").number, stage.cursor("0b").number) == (2, 2)


def test_a_rule_that_fails_stops_its_series_and_rings() -> None:
    stage = Stage()
    first = stage.create(repeat='{"cron": "0 9 * * *", "timeZone": "Europe/Atlantis"}')
    assert stage.react([stage.event(first)]) == []
    assert stage.cursor().state is SeriesState.FAILED
    assert stage.world.observer.counts["SeriesFailed"] == 1


def test_missed_times_are_made_up_one_at_a_time() -> None:
    """Each is put by the claim of the one before, so that an outage of two hours is no burst for the target."""
    stage = Stage()
    first = stage.create(on_missed=OnMissed.ALL)
    stage.world.clock.move(2 * HOUR)
    claimed: list[str] = []
    while stage.cursor().at <= stage.world.clock.now():
        current = stage.cursor().current
        waiting = {key.due for key in all_rows(stage.world.table)} - {key_of(one).due for one in claimed}
        assert waiting == {key_of(current).due}, "one is under way"
        stage.react([stage.event(current), stage.event(first)])
        claimed.append(current)
        stage.world.clock.move(SECOND)
    assert len(claimed) == 122
    assert stage.cursor().at > stage.world.clock.now()


def test_a_step_logs_nothing_that_a_client_sent() -> None:
    stage = Stage()
    first = stage.create()
    stage.react([stage.event(first)])
    logged = str(stage.world.observer.lines)
    definition = stage.world.series.definition(stage.cursor().owner, "0a")
    assert definition
    assert definition.definition.payload not in logged
    assert definition.definition.action not in logged
