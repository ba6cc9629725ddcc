"""Events of occurrences step their series; nothing that is wrong with one of them stops the others."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.engines.ports import ReceivedMessage, Unavailable
from delayer.engines.store.model import Item, Key
from delayer.engines.store.store import PartlyRead, Store
from delayer.ledger.model import EventType
from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.schedule.schedule_id import IdKind, key_of
from delayer.series.ports import SeriesTransaction
from delayer.series.repository.series_table import StoredSeries, filed_key, series_list
from delayer.series.rules.rules import rule_of as rule_in
from delayer.series.rules.series import Backfill, Rule, SeriesDefinition, SeriesState
from delayer.series.use_cases.step import ReactToEvents
from tests.looking import all_rows
from tests.samples import OWNER
from tests.tables import in_turn, preceded
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
    one, two = stage.create("0a", name="one"), stage.create("0b")

    def rule_of(definition: SeriesDefinition) -> Rule:
        if definition.name == "one":
            raise error
        return rule_in(definition)

    react = evolve(stage.react, step_series=evolve(stage.react.step_series, rule_of=rule_of))
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


@define
class Asked:
    """A store, the names of its requests, and the lists of which it answers nothing."""

    store: Store
    names: list[str] = field(factory=list)
    lost: set[str] = field(factory=set)

    def __getattr__(self, name: str) -> Any:
        self.names.append(name)
        return getattr(self.store, name)

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        assert latest
        self.names.append("get_many")
        left = [key for key in keys if key["list"] in self.lost]
        found = self.store.get_many(table, [key for key in keys if key not in left])
        if left:
            raise PartlyRead("too much", found, left)
        return found

    def reads(self) -> int:
        """How many there were since it was asked last."""
        found = len([name for name in self.names if name in ("get", "get_many", "query")])
        self.names.clear()
        return found


def asked_by(stage: Stage) -> tuple[ReactToEvents, Asked]:
    """What reacts, and what it asks for of series."""
    step = stage.react.step_series
    series = step.series
    assert isinstance(series, StoredSeries)
    asked = Asked(series.store)
    return evolve(stage.react, step_series=evolve(step, series=evolve(series, store=asked))), asked


def test_ten_events_of_ten_series_are_two_reads() -> None:
    """And one, if none of them is of a current occurrence: most events are not."""
    stage = Stage()
    react, asked = asked_by(stage)
    batch = [stage.event(stage.create(f"0{number}")) for number in range(10)]
    assert react(batch) == []
    assert asked.names.count("transact") == 10
    assert asked.reads() == 2
    assert react(batch) == []
    assert asked.reads() == 1
    assert [stage.cursor(f"0{number}").number for number in range(10)] == [2] * 10


def test_a_batch_in_which_nothing_can_be_read_reads_nothing() -> None:
    react, asked = asked_by(Stage())
    assert react([ReceivedMessage(message_id="unknown", body="{}")]) == ["unknown"]
    assert asked.reads() == 0


def test_the_second_event_of_a_series_goes_by_what_the_first_one_wrote() -> None:
    """It is read once for both. That of a backfill steps by the cursor which has the next occurrence already."""
    stage = Stage()
    first = stage.create()
    filled = backfilled(stage, "0a")
    react, asked = asked_by(stage)
    batch = [stage.event(first), stage.event(first, EventType.EXECUTED), stage.event(filled, EventType.EXECUTED)]
    assert react(batch) == []
    assert (asked.names.count("transact"), asked.reads()) == (2, 2)
    cursor = stage.cursor()
    assert (cursor.number, cursor.revision, cursor.backfill) == (2, 4, None)


def test_the_second_event_reads_again_if_somebody_was_faster() -> None:
    stage = Stage()
    first = stage.create()
    filled = backfilled(stage, "0a")
    react, asked = asked_by(stage)

    def other() -> None:
        stage.react([stage.event(first)])

    series = react.step_series.series
    assert isinstance(series, StoredSeries)
    overtaken = evolve(react.step_series, series=preceded(series, in_turn(other)))
    assert evolve(react, step_series=overtaken)([stage.event(first), stage.event(filled, EventType.EXECUTED)]) == []
    assert asked.reads() == 3
    assert (stage.cursor().number, stage.cursor().backfill) == (2, None)


def test_after_an_error_nothing_is_known_of_the_series() -> None:
    """Perhaps it was written. The next event reads again, and the first comes again alone."""
    stage = Stage()
    first = stage.create()
    filled = backfilled(stage, "0a")
    react, asked = asked_by(stage)

    def fails() -> None:
        raise Unavailable("no answer")

    series = react.step_series.series
    assert isinstance(series, StoredSeries)
    failing = evolve(react.step_series, series=preceded(series, in_turn(fails)))
    batch = [stage.event(first), stage.event(filled, EventType.EXECUTED)]
    assert evolve(react, step_series=failing)(batch) == [batch[0].message_id]
    assert asked.reads() == 3
    assert (stage.cursor().number, stage.cursor().backfill) == (1, None)


@pytest.mark.parametrize("lost", ["filed", "series"])
def test_only_events_of_which_nothing_was_answered_come_again(lost: str) -> None:
    """Where each is filed, or the series itself."""
    stage = Stage()
    one, two = stage.create("0a"), stage.create("0b", at=START + 2 * MINUTE)
    react, asked = asked_by(stage)
    asked.lost.add(filed_key(one)["list"] if lost == "filed" else series_list(OWNER, "0a"))
    batch = [stage.event(one), stage.event(two), stage.event(one, EventType.EXECUTED)]
    assert react(batch) == [batch[0].message_id, batch[2].message_id]
    assert asked.reads() == 2
    assert (stage.cursor("0a").number, stage.cursor("0b").number) == (1, 2)


def test_if_no_read_is_answered_all_of_a_batch_comes_again() -> None:
    stage = Stage()
    batch = [stage.event(stage.create("0a")), stage.event(stage.create("0b"))]

    def fails() -> None:
        raise Unavailable("DynamoDB is away")

    step = stage.react.step_series
    series = step.series
    assert isinstance(series, StoredSeries)
    away = evolve(stage.react, step_series=evolve(step, series=preceded(series, fails, ["get_many"])))
    assert away(batch) == [one.message_id for one in batch]


def backfilled(stage: Stage, series: str) -> str:
    """The series has a backfill of one time, too; the id of its occurrence."""
    over, definition = stage.cursor(series), stage.world.series.definition(OWNER, series)
    assert definition
    put = stage.world.accept.ids.issue_for(START, definition.definition, OWNER, kind=IdKind.OCCURRENCE)
    backfill = Backfill(since=START - MINUTE, until=START, at=START - MINUTE, current=put.id)
    cursor = evolve(over, revision=over.revision + 1, backfill=backfill)
    assert stage.world.series.write(SeriesTransaction(cursor=cursor, over=over, put=(put,)))
    return put.id


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
