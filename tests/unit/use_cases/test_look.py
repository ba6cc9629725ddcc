"""Looking a schedule up: the ledger's word counts more than the table's."""

import pytest

from delayer.core.instants import DAY, HOUR, MINUTE, SECOND
from delayer.core.ledger import STALE_AFTER
from delayer.core.lifecycle import State
from delayer.core.whereabouts import Found
from delayer.core.withdrawing import Expired, NotFound
from delayer.use_cases.cancel import Cancel
from delayer.use_cases.look import Look
from tests.unit.use_cases.test_accept import accepted, body
from tests.world import START, World

OWNER = "owner"


def a_look(world: World) -> Look:
    return Look(
        clock=world.clock,
        ledger=world.ledger,
        schedules=world.table,
        registry=world.registry,
        journal=world.journal,
        ids=world.accept.ids,
        observer=world.observer,
    )


def test_in_the_table_it_is_scheduled_and_its_definition_is_known() -> None:
    world = World()
    schedule = world.post(START + DAY)
    assert schedule
    expected = Found(schedule_id=schedule.id, state=State.SCHEDULED, definition=schedule)
    assert a_look(world).by_id(schedule.id, OWNER) == expected


def test_all_the_way_to_its_end() -> None:
    """Table, stream, delayer queue, executor's queue, done; overdue where it waits too long."""
    world = World()
    schedule = world.post(START + 5 * MINUTE)
    assert schedule
    look = a_look(world)
    seen = [look.by_id(schedule.id, OWNER)]
    world.run_until(START + MINUTE)
    seen.append(look.by_id(schedule.id, OWNER))
    world.clock.move(5 * MINUTE)
    seen.append(look.by_id(schedule.id, OWNER))
    world.run_until(START + HOUR)
    seen.append(look.by_id(schedule.id, OWNER))
    states = [(one.state, one.overdue) for one in seen if isinstance(one, Found)]
    assert states == [
        (State.SCHEDULED, False),
        (State.ENQUEUED, False),
        (State.ENQUEUED, True),
        (State.EXECUTED, False),
    ]


def test_the_ledger_wins_over_a_record_left_behind() -> None:
    world = World()
    schedule = world.post(START + DAY)
    assert schedule
    cancel = Cancel(
        clock=world.clock,
        ledger=world.ledger,
        schedules=world.table,
        registry=world.registry,
        ids=world.accept.ids,
        observer=world.observer,
    )
    cancel(schedule.id, OWNER)
    world.table.put(schedule)
    found = a_look(world).by_id(schedule.id, OWNER)
    assert found == Found(schedule_id=schedule.id, state=State.CANCELLED, row=world.row(schedule))


@pytest.mark.parametrize("schedule_id", ["", "no id", "0" * 44])
def test_what_was_never_issued(schedule_id: str) -> None:
    world = World()
    assert a_look(world).by_id(schedule_id, OWNER) == NotFound()


def test_another_owner_finds_nothing() -> None:
    world = World()
    schedule = accepted(world, body(name="n"), owner=OWNER)
    assert a_look(world).by_id(schedule.id, "another") == NotFound()
    assert a_look(world).by_name("n", "another") == NotFound()


def test_a_name_leads_to_its_bearer() -> None:
    world = World()
    schedule = accepted(world, body(name="n"), owner=OWNER)
    found = a_look(world).by_name("n", OWNER)
    assert isinstance(found, Found)
    assert (found.schedule_id, found.state, found.definition) == (schedule.id, State.SCHEDULED, schedule)
    world.run_until(START + MINUTE)
    found = a_look(world).by_name("n", OWNER)
    assert isinstance(found, Found)
    assert (found.state, found.definition) == (State.ENQUEUED, None)
    assert found.row
    assert found.row.name == "n"


def test_what_is_too_old_may_have_been_anything() -> None:
    world = World()
    schedule = world.post(START + SECOND)
    assert schedule
    world.table.rows.clear()
    world.clock.move(SECOND + STALE_AFTER)
    assert isinstance(a_look(world).by_id(schedule.id, OWNER), Found)
    world.clock.move(1)
    assert a_look(world).by_id(schedule.id, OWNER) == Expired()
