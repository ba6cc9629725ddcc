"""The cancel of a group ends its series, and its counts are those of what happened."""

import pytest
from attrs import evolve

from delayer.history.model import Occurrence, definition_for
from delayer.jobs.rules import JobRow
from delayer.jobs.use_cases import detail
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, MINUTE, Millis
from delayer.schedule.schedule_id import IdKind
from delayer.series.ports import SeriesTransaction
from delayer.series.rules.series import Cursor, SeriesDefinition, SeriesState
from delayer.series.use_cases.halt import AT_A_TIME, EndSeriesOfGroup, Halt
from delayer.wiring.build import build
from tests.fakes.faults import Fault, faulty
from tests.samples import a_definition
from tests.unit.jobs.test_cancel_group import GROUP, OWNER, Stand, a_stand
from tests.world import START, World


def a_series(world: World, name: str, created_at: Millis = START, due: Millis = START + HOUR) -> str:
    """One of the group; the id of its first occurrence."""
    definition = SeriesDefinition(owner=OWNER, repeat="{}", definition=a_definition(group=GROUP), created_at=created_at)
    put = definition_for(definition.definition, Occurrence(series=name, number=1, time=due))
    first = world.accept.ids.issue_for(due, put, OWNER, kind=IdKind.OCCURRENCE)
    cursor = Cursor(series=name, owner=OWNER, state=SeriesState.ACTIVE, number=1, current=first.id, at=due)
    assert world.series.write(SeriesTransaction(cursor=cursor, over=None, put=(first,), definition=definition))
    return first.id


def cancelled(stand: Stand) -> JobRow:
    stand.begin(GROUP, OWNER)
    return stand.run()


def states(world: World) -> set[SeriesState]:
    return {cursor.state for cursor in world.series.cursors(OWNER, [f"s{number:02}" for number in range(40)]).values()}


def test_schedules_and_series_of_a_group_end_together() -> None:
    stand = a_stand()
    schedules = stand.members(3)
    firsts = [a_series(stand.world, f"s{number:02}") for number in range(2 * AT_A_TIME + 1)]
    job = cancelled(stand)
    assert (job.cancelled, job.handed_over, job.ended) == (len(schedules) + len(firsts), 0, 0)
    assert states(stand.world) == {SeriesState.CANCELLED}
    stand.world.run_until(START + 2 * HOUR)
    assert stand.world.target.reached == []
    row = stand.world.ledger.read(firsts[0])
    assert row
    assert (row.state, row.detail) == (State.CANCELLED, detail(job))


def test_an_occurrence_that_was_claimed_is_counted_as_handed_over() -> None:
    stand = a_stand()
    a_series(stand.world, "s01", due=START + MINUTE)
    stand.world.run_until(START + MINUTE)
    job = cancelled(stand)
    assert (job.cancelled, job.handed_over, job.ended) == (0, 1, 0)
    assert states(stand.world) == {SeriesState.CANCELLED}, "and there is no other"


def test_what_had_ended_before_is_counted_as_ended() -> None:
    stand = a_stand()
    first = a_series(stand.world, "s01")
    halt = build(Halt, stand.world.ports("halt"))
    halt.delete(OWNER, "s01")
    assert stand.world.ledger.read(first)
    job = cancelled(stand)
    assert (job.cancelled, job.handed_over, job.ended) == (0, 0, 1)


def test_a_series_that_was_created_after_the_call_is_left_alone() -> None:
    stand = a_stand()
    a_series(stand.world, "s01")
    stand.begin(GROUP, OWNER)
    a_series(stand.world, "s02", created_at=START + MINUTE)
    job = stand.run()
    assert (job.cancelled, job.found) == (1, 1)
    assert states(stand.world) == {SeriesState.CANCELLED, SeriesState.ACTIVE}


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("at", range(0, 47, 2))
def test_a_crash_anywhere_and_the_counts_are_exact(fault: Fault, at: int) -> None:
    stand = a_stand(fault, at)
    world = stand.world
    series, ledger = faulty(world.series, stand.plan), faulty(world.ledger, stand.plan)
    halt = evolve(build(Halt, world.ports("halt")), series=series, cancel_of_series=evolve(world.cancel, ledger=ledger))
    end = build(EndSeriesOfGroup, world.ports("end"), series=series, ledger=ledger, halt=halt)
    stand.work = evolve(stand.work, end_series=end)
    for number in range(AT_A_TIME + 2):
        a_series(world, f"s{number:02}")
    job = cancelled(stand)
    assert len(stand.plan.seen) > at, "there is no such request"
    assert (job.cancelled, job.handed_over, job.ended) == (AT_A_TIME + 2, 0, 0)
    assert states(world) == {SeriesState.CANCELLED}
