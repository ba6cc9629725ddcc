"""Run-now and backfill put each occurrence once, and nothing after a pause or a DELETE that is not named."""

import pytest

from delayer.accept.rules.request import KeyReused
from delayer.history.model import SeriesRefuses, occurrence_of
from delayer.http.problem import Invalid
from delayer.schedule.instants import DAY, MINUTE, SECOND, format_instant
from delayer.schedule.schedule import Schedule
from delayer.schedule.tables import SCHEDULES
from delayer.series.rules.backfill import Range
from delayer.series.rules.series import KEPT_AT_LEAST, MAX_BESIDE, NoSeries, SeriesState
from delayer.series.use_cases.halt import Halted
from delayer.series.use_cases.run import Began
from tests.looking import put_row
from tests.samples import OWNER, a_claim
from tests.unit.series.steering.stage import ID, MINUTELY, Stage
from tests.world import START

UNTIL_SOON = {**MINUTELY, "until": format_instant(START + 2 * MINUTE)}
HALF_AN_HOUR = Range(since=START - 30 * MINUTE, until=START)


def began(answer: object) -> Began:
    assert isinstance(answer, Began)
    return answer


def test_one_runs_now_beside_the_current_one() -> None:
    stage = Stage()
    stage.world.clock.move(7 * SECOND)
    answer = began(stage.run.now(OWNER, ID))
    assert answer.time == START + 7 * SECOND
    assert (stage.cursor.current, stage.cursor.beside) == (stage.first, (answer.schedule_id,))
    stage.run_until(START + MINUTE + SECOND)
    assert stage.fired == [(0, START + 7 * SECOND, "old"), (1, START + MINUTE, "old")]


def test_the_same_key_brings_the_same_answer_and_no_second_one() -> None:
    stage = Stage()
    first = stage.run.now(OWNER, ID, key="k")
    stage.world.clock.move(SECOND)
    assert stage.run.now(OWNER, ID, key="k") == first
    assert stage.run.backfill(OWNER, ID, HALF_AN_HOUR, key="k") == KeyReused()
    assert stage.run.now(OWNER, "another", key="k") == KeyReused()
    assert len(stage.cursor.beside) == 1
    stage.world.clock.move(2 * DAY)
    assert stage.run.now(OWNER, ID, key="k") != first, "the key has expired"


def test_a_delete_names_what_runs_now() -> None:
    """One that still waits is cancelled; one that was claimed is named, until it has ended."""
    stage = Stage()
    claimed = began(stage.run.now(OWNER, ID)).schedule_id
    stage.world.target.answers.clear()
    stage.world.run_until(START + 10 * SECOND)
    waiting = began(stage.run.now(OWNER, ID)).schedule_id
    assert stage.cursor.beside == (waiting,), "the first has ended"
    answer = stage.halt.delete(OWNER, ID)
    assert isinstance(answer, Halted)
    assert set(answer.cancelled) == {waiting, stage.first}
    stage.run_until(START + 3 * MINUTE)
    assert stage.fired_ids == {claimed}


def test_what_was_claimed_is_named_until_it_has_ended() -> None:
    """It has no number by which the answer could name it."""
    stage = Stage()
    claimed = began(stage.run.now(OWNER, ID)).schedule_id
    put_row(stage.world.ledger, a_claim(schedule_id=claimed))
    waiting = began(stage.run.now(OWNER, ID)).schedule_id
    assert stage.cursor.beside == (claimed, waiting)
    answer = stage.halt.delete(OWNER, ID)
    assert isinstance(answer, Halted)
    assert [row.schedule_id for row in answer.claimed] == [claimed]


def test_what_is_paused_cancelled_or_not_there_puts_nothing() -> None:
    stage = Stage()
    assert stage.run.now("somebody", ID) == NoSeries()
    assert stage.run.backfill("somebody", ID, HALF_AN_HOUR) == NoSeries()
    stage.halt.pause(OWNER, ID)
    assert stage.run.now(OWNER, ID) == SeriesRefuses("the series is paused")
    assert stage.run.backfill(OWNER, ID, HALF_AN_HOUR) == SeriesRefuses("the series is paused")
    stage.halt.delete(OWNER, ID)
    assert stage.run.now(OWNER, ID) == SeriesRefuses("the series is cancelled")
    stage.run_until(START + 3 * MINUTE)
    assert stage.fired == []


def test_no_more_than_ten_wait_beside_the_current_one() -> None:
    stage = Stage()
    for _ in range(MAX_BESIDE):
        began(stage.run.now(OWNER, ID))
    assert isinstance(stage.run.now(OWNER, ID), SeriesRefuses)
    stage.run_until(START + 10 * SECOND)
    began(stage.run.now(OWNER, ID))
    assert len(stage.cursor.beside) == 1


def test_a_backfill_makes_up_each_time_once_and_never_two_at_a_time() -> None:
    stage = Stage()
    answer = began(stage.run.backfill(OWNER, ID, HALF_AN_HOUR))
    assert answer.time == START - 30 * MINUTE
    live = 0
    while stage.cursor.backfill and stage.world.clock.now() < START + 20 * MINUTE:
        stage.run_until(stage.world.clock.now() + 200)
        rows = [stage.world.ledger.read(one) for one in filled(stage)]
        live = max(live, sum(not (row and row.ended) for row in rows))
    assert live == 1
    made_up = [time for number, time, _ in stage.fired if not number]
    assert made_up == [START - at * MINUTE for at in range(30, 0, -1)]
    regular = [number for number, _, _ in stage.fired if number]
    assert regular == [*range(1, len(regular) + 1)], "the series goes on beside it"


def filled(stage: Stage) -> list[str]:
    """Those that were put by the backfill."""
    found = []
    for change in stage.world.feed.records[SCHEDULES]:
        row = change.row
        which = occurrence_of(row.definition) if isinstance(row, Schedule) else None
        if isinstance(row, Schedule) and which and not which.number:
            found.append(row.id)
    return sorted(set(found))


def test_a_delete_ends_the_backfill() -> None:
    stage = Stage()
    stage.run.backfill(OWNER, ID, HALF_AN_HOUR)
    stage.run_until(START + 3 * SECOND)
    answer = stage.halt.delete(OWNER, ID)
    assert isinstance(answer, Halted)
    before = stage.fired_ids
    stage.run_until(START + 3 * MINUTE)
    assert stage.fired_ids <= before | {row.schedule_id for row in answer.claimed}


def test_one_backfill_at_a_time_and_its_key() -> None:
    stage = Stage()
    first = stage.run.backfill(OWNER, ID, HALF_AN_HOUR, b"{}", "k")
    assert stage.run.backfill(OWNER, ID, HALF_AN_HOUR) == SeriesRefuses("a backfill of it is under way")
    assert stage.run.backfill(OWNER, ID, HALF_AN_HOUR, b"{}", "k") == first
    assert stage.run.backfill(OWNER, ID, HALF_AN_HOUR, b'{"other": 1}', "k") == KeyReused()


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (Range(since=START - 10 * DAY, until=START - 5 * DAY), "from"),
        (Range(since=START + MINUTE + 1, until=START + 2 * MINUTE), "from"),
        (Range(since=START, until=START + DAY), "until"),
    ],
    ids=["before the rule begins", "between two times", "too many"],
)
def test_a_range_has_at_least_one_time_and_at_most_a_thousand(asked: Range, field: str) -> None:
    with pytest.raises(Invalid) as found:
        Stage().run.backfill(OWNER, ID, asked)
    assert [one.field for one in found.value.errors] == [field]


def test_what_runs_long_after_the_end_keeps_the_series_from_being_forgotten() -> None:
    """Otherwise the TTL would take the cursor away from a backfill that is at work, and from its DELETE."""
    for command in ("run-now", "backfill"):
        stage = Stage(repeat=UNTIL_SOON)
        stage.run_until(START + 5 * MINUTE)
        ended = stage.cursor
        assert ended.state is SeriesState.ENDED
        stage.world.clock.move(ended.expires_at - stage.world.clock.now() - MINUTE)
        stage.world.ticking = False  # the minute task would look at all minutes of these months
        now = stage.world.clock.now()
        asked = Range(since=START - 20 * MINUTE, until=START)
        began(stage.run.now(OWNER, ID) if command == "run-now" else stage.run.backfill(OWNER, ID, asked))
        assert stage.cursor.expires_at >= now + KEPT_AT_LEAST
        stage.run_until(now + 10 * MINUTE)
        assert stage.cursor.expires_at >= now + KEPT_AT_LEAST
        assert isinstance(stage.halt.delete(OWNER, ID), Halted)


def test_a_backfill_gives_the_series_time_with_each_of_its_occurrences() -> None:
    stage = Stage(repeat=UNTIL_SOON)
    stage.run_until(START + 5 * MINUTE)
    began(stage.run.backfill(OWNER, ID, Range(since=START - 20 * MINUTE, until=START)))
    first = stage.cursor.expires_at
    stage.world.clock.move(KEPT_AT_LEAST - DAY)
    stage.world.ticking = False  # the minute task would look at all minutes of these months
    stage.run_until(stage.world.clock.now() + 3 * SECOND)
    assert stage.cursor.backfill
    assert stage.cursor.expires_at > first + DAY
