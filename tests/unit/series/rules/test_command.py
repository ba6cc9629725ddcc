"""What clients do to a series. The orders of these writes are searched by `tests/model/series`."""

import pytest
from attrs import evolve

from delayer.history.model import SeriesRefuses
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import DAY, HOUR, SECOND, Millis
from delayer.series.rules.command import (
    AlreadyClosed,
    Await,
    CancelFirst,
    ReplaceOccurrence,
    decide_beside,
    decide_delete,
    decide_occurrence_delete,
    decide_occurrence_patch,
    decide_patch,
    decide_pause,
    decide_resume,
    patched,
    resumed,
)
from delayer.series.rules.series import MAX_BESIDE, Backfill, Cursor, CursorChange, NewTimes, Overlap, SeriesState
from delayer.series.rules.stepping import Over, ReadAgain, Step, decide_step, offset_of
from tests.samples import NOW, a_claim, a_definition, an_id
from tests.unit.series.rules.samples import CURRENT, Every, Times, a_cursor, a_series, happened

NEW, OTHER = an_id(shard=5), an_id(shard=6)
CANCELLED = a_claim(state=State.CANCELLED, claimed_at=0, attempt=0)
HOURLY = Every(HOUR)


def of(change: object) -> Cursor:
    assert isinstance(change, CursorChange)
    assert change.cursor.revision == change.over.revision + 1
    return change.cursor


@pytest.mark.parametrize("state", [SeriesState.ACTIVE, SeriesState.WAITING])
def test_a_pause_is_written_over_what_may_go_on(state: SeriesState) -> None:
    assert of(decide_pause(a_cursor(state=state))).state is SeriesState.PAUSED


def test_a_pause_may_be_repeated_and_names_the_same() -> None:
    paused = of(decide_pause(a_cursor(beside=(OTHER,))))
    assert decide_pause(paused) == AlreadyClosed(paused)
    assert paused.named == (CURRENT, OTHER)


@pytest.mark.parametrize("state", [SeriesState.ENDED, SeriesState.FAILED, SeriesState.CANCELLED])
def test_what_is_over_is_not_paused(state: SeriesState) -> None:
    assert isinstance(decide_pause(a_cursor(state=state)), SeriesRefuses)


@pytest.mark.parametrize("state", [state for state in SeriesState if state is not SeriesState.CANCELLED])
def test_a_delete_is_written_whatever_the_series_does(state: SeriesState) -> None:
    deleted = of(decide_delete(a_cursor(state=state)))
    assert deleted.state is SeriesState.CANCELLED
    assert decide_delete(deleted) == AlreadyClosed(deleted)


def test_a_cursor_names_all_that_may_still_be_claimed() -> None:
    filling = Backfill(since=0, until=NOW, at=HOUR, current=NEW)
    assert a_cursor(beside=(OTHER,), backfill=filling).named == (CURRENT, OTHER, NEW)
    assert a_cursor(current="").named == ()


class TestResume:
    PAUSED = a_cursor(state=SeriesState.PAUSED)

    def test_what_the_pause_has_cancelled_is_put_anew_under_another_number(self) -> None:
        """If it is still to come."""
        step = decide_resume(self.PAUSED, a_series(), HOURLY, CANCELLED, NOW - 1)
        assert step == Step(number=8, at=NOW)
        cursor = of(resumed(self.PAUSED, step, CANCELLED, NEW))
        assert (cursor.state, cursor.current, cursor.passed) == (SeriesState.ACTIVE, NEW, 0)

    @pytest.mark.parametrize(("ahead", "at"), [(1, NOW), (0, NOW + HOUR)], ids=["to come", "over"])
    def test_with_a_window_a_time_is_to_come_as_long_as_its_place_in_it(self, ahead: Millis, at: Millis) -> None:
        windowed = a_series(definition=evolve(a_definition(), window='{"seconds": 3000}'))
        offset = offset_of(windowed, self.PAUSED.series)
        assert offset > SECOND
        assert decide_resume(self.PAUSED, windowed, HOURLY, CANCELLED, NOW + offset - ahead) == Step(number=8, at=at)

    def test_what_passed_meanwhile_is_not_made_up(self) -> None:
        step = decide_resume(self.PAUSED, a_series(), HOURLY, CANCELLED, NOW + DAY)
        assert step == Step(number=8, at=NOW + DAY + HOUR)

    def test_what_was_claimed_a_moment_early_is_not_put_again(self) -> None:
        step = decide_resume(self.PAUSED, a_series(), HOURLY, a_claim(), NOW - 250)
        assert step == Step(number=8, at=NOW + HOUR)
        assert isinstance(step, Step)
        assert of(resumed(self.PAUSED, step, a_claim(), NEW)).passed == NOW

    def test_what_can_still_be_claimed_is_cancelled_first(self) -> None:
        assert decide_resume(self.PAUSED, a_series(), HOURLY, None, NOW) == CancelFirst()

    def test_what_still_runs_is_waited_for_if_none_may_overlap(self) -> None:
        found = decide_resume(self.PAUSED, a_series(overlap=Overlap.SKIP), HOURLY, a_claim(), NOW)
        assert found == Await(number=8, passed=NOW)
        assert isinstance(found, Await)
        cursor = of(resumed(self.PAUSED, found, a_claim(), ""))
        assert (cursor.state, cursor.current) == (SeriesState.ACTIVE, CURRENT)

    def test_only_a_paused_one_with_its_own_definition_is_resumed(self) -> None:
        assert isinstance(decide_resume(a_cursor(), a_series(), HOURLY, None, NOW), SeriesRefuses)
        assert decide_resume(self.PAUSED, a_series(revision=2), HOURLY, CANCELLED, NOW) == ReadAgain()

    def test_it_may_have_ended_meanwhile(self) -> None:
        ended = decide_resume(self.PAUSED, a_series(), Times((NOW,)), CANCELLED, NOW)
        assert ended == Over(SeriesState.ENDED)


class TestPatch:
    CHANGED = a_series(revision=2)

    def patch(
        self, cursor: Cursor, row: object = None, now: Millis = NOW - 1, new_times: NewTimes = NewTimes.NONE
    ) -> object:
        return decide_patch(cursor, self.CHANGED, HOURLY, row, now, new_times)  # type: ignore[arg-type]

    def test_the_current_one_is_replaced_at_its_time(self) -> None:
        """Late or not."""
        cursor = a_cursor(at=NOW - DAY, made_up=3)
        found = self.patch(cursor)
        assert found == ReplaceOccurrence(step=Step(number=7, at=NOW - DAY, made_up=3))
        assert isinstance(found, ReplaceOccurrence)
        after = of(patched(cursor, found, self.CHANGED, NOW, NEW, NewTimes.NONE))
        assert (after.current, after.number, after.definition_revision, after.passed) == (NEW, 7, 2, 0)

    def test_new_times_begin_now(self) -> None:
        assert self.patch(a_cursor(at=NOW + DAY), new_times=NewTimes.PATTERN) == ReplaceOccurrence(
            step=Step(number=7, at=NOW)
        )

    def test_a_time_that_is_late_is_kept_if_they_have_it_too(self) -> None:
        """Another end of the rule, for example, must lose nothing."""
        late = self.patch(a_cursor(at=NOW - 2 * HOUR), new_times=NewTimes.PATTERN)
        assert late == ReplaceOccurrence(step=Step(number=7, at=NOW - 2 * HOUR))
        other = self.patch(a_cursor(at=NOW - 2 * HOUR - 1), new_times=NewTimes.PATTERN)
        assert other == ReplaceOccurrence(step=Step(number=7, at=NOW))

    def test_the_last_time_of_a_rule_that_ends_is_kept(self) -> None:
        found = decide_patch(a_cursor(), self.CHANGED, Times((NOW,)), None, NOW + HOUR, NewTimes.PATTERN)
        assert found == ReplaceOccurrence(step=Step(number=7, at=NOW))

    def test_they_leave_out_what_was_claimed_a_moment_early(self) -> None:
        cursor = a_cursor(at=NOW + DAY, passed=NOW)
        assert self.patch(cursor, now=NOW - 250, new_times=NewTimes.PATTERN) == ReplaceOccurrence(
            step=Step(number=7, at=NOW + HOUR)
        )

    def test_they_leave_out_what_is_claimed_a_moment_early_also_before_the_step(self) -> None:
        found = self.patch(a_cursor(), a_claim(), NOW - 250, NewTimes.PATTERN)
        assert found == Step(number=8, at=NOW + HOUR), "the event of its claim has not come yet"

    def test_of_what_has_passed_by_them_nothing_is_made_up_after_an_end(self) -> None:
        """With `queue-one` the last time that has passed would come at once."""
        queueing = evolve(self.CHANGED, overlap=Overlap.QUEUE_ONE)
        cursor, row, now = a_cursor(at=NOW - DAY), a_claim(), NOW + 1
        found = decide_patch(cursor, queueing, HOURLY, row, now, NewTimes.PATTERN)
        assert found == Await(number=8, passed=now)
        assert isinstance(found, Await)
        after = of(patched(cursor, found, queueing, now, "", NewTimes.PATTERN))
        ended = happened(EventType.EXECUTED)
        assert decide_step(after, queueing, HOURLY, ended, now + 1) == Step(number=8, at=NOW + HOUR)

    def test_they_forget_what_was_left_behind_in_the_future(self) -> None:
        cursor = a_cursor(passed=NOW + DAY, at=NOW + 2 * DAY)
        found = self.patch(cursor, new_times=NewTimes.PATTERN)
        assert found == ReplaceOccurrence(step=Step(number=7, at=NOW))
        assert isinstance(found, ReplaceOccurrence)
        assert of(patched(cursor, found, self.CHANGED, NOW - 1, NEW, NewTimes.PATTERN)).passed < NOW + HOUR

    def test_if_the_current_one_is_claimed_it_takes_the_step(self) -> None:
        assert self.patch(a_cursor(), a_claim(), NOW) == Step(number=8, at=NOW + HOUR)

    def test_it_waits_for_the_end_if_none_may_overlap(self) -> None:
        skipping = evolve(self.CHANGED, overlap=Overlap.SKIP)
        assert decide_patch(a_cursor(), skipping, HOURLY, a_claim(), NOW, NewTimes.NONE) == Await(number=8)

    def test_a_paused_series_takes_it_with_its_resume(self) -> None:
        cursor = a_cursor(state=SeriesState.PAUSED)
        found = self.patch(cursor)
        assert found == Await(number=8)
        assert isinstance(found, Await)
        after = of(patched(cursor, found, self.CHANGED, NOW, "", NewTimes.NONE))
        assert (after.state, after.current, after.definition_revision) == (SeriesState.PAUSED, CURRENT, 2)

    def test_a_series_that_has_ended_goes_on(self) -> None:
        ended = a_cursor(state=SeriesState.ENDED, current="", passed=NOW)
        assert self.patch(ended) == Step(number=8, at=NOW + HOUR)

    def test_what_was_made_from_an_older_definition_is_made_again(self) -> None:
        assert self.patch(a_cursor(definition_revision=2)) == ReadAgain()

    def test_a_cancelled_one_does_not(self) -> None:
        assert isinstance(self.patch(a_cursor(state=SeriesState.CANCELLED)), SeriesRefuses)


class TestBeside:
    def test_it_is_named(self) -> None:
        assert of(decide_beside(a_cursor(), NEW)).beside == (NEW,)

    def test_the_current_one_is_named_once_more_when_it_is_redriven(self) -> None:
        assert of(decide_beside(a_cursor(), CURRENT)).beside == (CURRENT,)

    def test_it_is_not_named_twice(self) -> None:
        assert of(decide_beside(a_cursor(beside=(NEW,)), NEW)).beside == (NEW,)

    @pytest.mark.parametrize("state", [SeriesState.PAUSED, SeriesState.CANCELLED])
    def test_nothing_is_added_to_what_is_closed(self, state: SeriesState) -> None:
        assert isinstance(decide_beside(a_cursor(state=state), NEW), SeriesRefuses)

    def test_they_are_few_and_those_that_are_over_make_room(self) -> None:
        several = tuple(an_id(shard=10 + shard) for shard in range(MAX_BESIDE))
        cursor = a_cursor(beside=several)
        assert isinstance(decide_beside(cursor, NEW), SeriesRefuses)
        assert of(decide_beside(cursor, NEW, several[:1])).beside == (*several[1:], NEW)


def test_an_occurrence_that_its_owner_cancels_is_not_put_again() -> None:
    assert of(decide_occurrence_delete(a_cursor(), CURRENT)).passed == NOW
    assert decide_occurrence_delete(a_cursor(), OTHER) is None


def test_the_patch_of_an_occurrence_changes_what_names_it() -> None:
    assert of(decide_occurrence_patch(a_cursor(), CURRENT, NEW, None)).current == NEW
    assert of(decide_occurrence_patch(a_cursor(beside=(OTHER,)), OTHER, NEW, None)).beside == (NEW,)
    failed = of(decide_occurrence_patch(a_cursor(), CURRENT, NEW, a_claim(state=State.FAILED)))
    assert (failed.current, failed.beside) == (CURRENT, (NEW,))
    assert isinstance(decide_occurrence_patch(a_cursor(), OTHER, NEW, None), SeriesRefuses)
    assert isinstance(decide_occurrence_patch(a_cursor(state=SeriesState.PAUSED), CURRENT, NEW, None), SeriesRefuses)
