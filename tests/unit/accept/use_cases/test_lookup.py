"""Looking a schedule up: the ledger's word counts more than the table's."""

from types import SimpleNamespace

import pytest
from attrs import evolve

from delayer.accept.rules.status import Expired, NotFound, Status
from delayer.accept.use_cases.lookup import Lookup
from delayer.engines.store.model import entry_key
from delayer.history.model import LifecycleEvent, Original
from delayer.ledger.model import State
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, STALE_AFTER
from delayer.schedule.schedule import NO_TRAITS
from delayer.wiring.build import build
from tests.fakes.faults import Fault, FaultPlan, faulty
from tests.looking import all_items, empty, store_of, table_of
from tests.unit.accept.use_cases.test_accept import accepted, body
from tests.unit.accept.use_cases.test_cancel import a_cancel
from tests.world import START, World

OWNER = "owner"


def a_lookup(world: World) -> Lookup:
    return build(Lookup, world.ports("lookup"))


def test_in_the_table_it_is_scheduled_and_its_definition_is_known() -> None:
    world = World()
    schedule = world.post(START + DAY)
    assert schedule
    expected = Status(schedule_id=schedule.id, state=State.SCHEDULED, original=Original(schedule=schedule))
    assert a_lookup(world).by_id(schedule.id, OWNER) == expected


def test_all_the_way_to_its_end() -> None:
    """Table, stream, delayer queue, executor's queue, done; overdue where it waits too long."""
    world = World()
    schedule = world.post(START + 5 * MINUTE)
    assert schedule
    lookup = a_lookup(world)
    seen = [lookup.by_id(schedule.id, OWNER)]
    world.run_until(START + MINUTE)
    seen.append(lookup.by_id(schedule.id, OWNER))
    world.clock.move(5 * MINUTE)
    seen.append(lookup.by_id(schedule.id, OWNER))
    world.run_until(START + HOUR)
    seen.append(lookup.by_id(schedule.id, OWNER))
    states = [(one.state, one.overdue) for one in seen if isinstance(one, Status)]
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
    world.cancel(schedule.id, OWNER)
    world.table.put(schedule)
    found = a_lookup(world).by_id(schedule.id, OWNER)
    assert found == Status(schedule_id=schedule.id, state=State.CANCELLED, row=world.row(schedule))


@pytest.mark.parametrize("schedule_id", ["", "no id", "0" * 47])
def test_what_was_never_issued(schedule_id: str) -> None:
    world = World()
    assert a_lookup(world).by_id(schedule_id, OWNER) == NotFound()


def test_another_owner_finds_nothing() -> None:
    world = World()
    schedule = accepted(world, body(name="n"), owner=OWNER)
    assert a_lookup(world).by_id(schedule.id, "another") == NotFound()
    assert a_lookup(world).by_name("n", "another") == NotFound()


def test_a_name_leads_to_its_holder() -> None:
    world = World()
    schedule = accepted(world, body(name="n"), owner=OWNER)
    found = a_lookup(world).by_name("n", OWNER)
    assert isinstance(found, Status)
    assert (found.schedule_id, found.state, found.original) == (
        schedule.id,
        State.SCHEDULED,
        Original(schedule=schedule),
    )
    world.run_until(START + MINUTE)
    found = a_lookup(world).by_name("n", OWNER)
    assert isinstance(found, Status)
    assert (found.state, found.original) == (State.ENQUEUED, None)
    assert found.row
    assert found.row.name == "n"


def test_what_is_too_old_may_have_been_anything() -> None:
    world = World()
    schedule = world.post(START + SECOND)
    assert schedule
    empty(world.table)
    world.clock.move(SECOND + STALE_AFTER)
    assert isinstance(a_lookup(world).by_id(schedule.id, OWNER), Status)
    world.clock.move(1)
    assert a_lookup(world).by_id(schedule.id, OWNER) == Expired()


def test_a_history_is_answered_with_the_definition() -> None:
    """Also when the record has left the table."""
    world = World()
    schedule = accepted(world, body(payload={"a": 1.0}), owner=OWNER)
    world.run_until(START + 2 * MINUTE)
    world.update_journal()
    found = a_lookup(world).by_id(schedule.id, OWNER)
    assert isinstance(found, Status)
    assert (found.state, found.original) == (State.EXECUTED, Original(schedule=evolve(schedule, traits=NO_TRAITS)))
    assert [event.type for event in found.history] == ["scheduled", "enqueued", "claimed", "executed"]


def test_a_journal_that_does_not_answer_makes_the_answer_shorter() -> None:
    """And nothing else. Switched off it is the same, and nobody is warned."""
    world = World()
    schedule = accepted(world, body(), owner=OWNER)
    world.run_until(START + 2 * MINUTE)
    world.update_journal()
    whole = a_lookup(world).by_id(schedule.id, OWNER)
    down = evolve(a_lookup(world), optional_journal=faulty(world.journal, FaultPlan(Fault.BEFORE, 0)))
    assert isinstance(whole, Status)
    assert down.by_id(schedule.id, OWNER) == evolve(whole, history=(), original=None)
    assert world.observer.warnings == ["journal not read"]
    off = evolve(a_lookup(world), optional_journal=None)
    assert off.by_id(schedule.id, OWNER) == evolve(whole, history=(), original=None)
    assert world.observer.warnings == ["journal not read"]


def test_a_history_is_never_ahead_of_the_state() -> None:
    """It is read first: of what happens in between, the times in the row are all that it has."""
    world = World()
    schedule = accepted(world, body(), owner=OWNER)
    world.update_journal()
    known = world.journal.history

    def slow(schedule_id: str, owner: str) -> tuple[LifecycleEvent, ...]:
        found = known(schedule_id, owner)
        world.run_until(START + 2 * MINUTE)
        world.update_journal()
        return found

    found = evolve(a_lookup(world), optional_journal=SimpleNamespace(history=slow)).by_id(schedule.id, OWNER)
    assert isinstance(found, Status)
    assert found.state is State.EXECUTED
    assert [event.type for event in found.history] == ["scheduled", "enqueued", "claimed"]


def test_what_the_ledger_has_forgotten_the_journal_tells() -> None:
    """Once it can be no other: before, and without an end, the journal is not heard."""
    world = World()
    done, stuck = accepted(world, body(), owner=OWNER), accepted(world, body(), owner=OWNER)
    world.run_until(START + 2 * MINUTE)
    world.update_journal()
    empty(world.ledger)
    found = a_lookup(world).by_id(done.id, OWNER)
    assert isinstance(found, Status)
    assert found.state is State.ENQUEUED, "as far as anybody knows"
    world.clock.move(STALE_AFTER + DAY)
    found = a_lookup(world).by_id(done.id, OWNER)
    assert isinstance(found, Status)
    original = Original(schedule=evolve(done, traits=NO_TRAITS))
    assert (found.state, found.overdue, found.original) == (State.EXECUTED, False, original)
    [end] = [item for item in all_items(world.journal, f"schedule#{stuck.id}") if State.EXECUTED in item["event"]]
    store_of(world.journal).forget(table_of(world.journal), entry_key(end["list"], end["entry"]))
    assert a_lookup(world).by_id(stuck.id, OWNER) == Expired()
    assert evolve(a_lookup(world), optional_journal=None).by_id(done.id, OWNER) == Expired()


def events_of(found: object) -> list[tuple[str, bool]]:
    """The history, and which of its times are estimated."""
    assert isinstance(found, Status)
    return [(event.type, event.is_estimate) for event in found.history]


def test_what_the_journal_leaves_out_is_derived_at_each_moment() -> None:
    """Before the claim from the table, after it from the ledger row, and after the end from the end."""
    world = World()
    schedule = world.post(START + 5 * MINUTE)
    assert schedule
    lookup = a_lookup(world)
    world.run_until(START + MINUTE)
    world.update_journal()
    assert events_of(lookup.by_id(schedule.id, OWNER)) == [("scheduled", False), ("enqueued", True)]
    world.run_until(START + 6 * MINUTE)
    claimed = [("scheduled", False), ("enqueued", False), ("claimed", False)]
    assert events_of(lookup.by_id(schedule.id, OWNER)) == claimed, "its end has not arrived in the journal"
    world.update_journal()
    assert len(world.journal.history(schedule.id, OWNER)) == 2
    assert events_of(lookup.by_id(schedule.id, OWNER)) == [*claimed, ("executed", False)]


def test_what_is_cancelled_on_its_way_was_enqueued() -> None:
    """That is known once a relay has received its message. It is not handed over."""
    world = World()
    schedule = world.post(START + 5 * MINUTE)
    assert schedule
    world.run_until(START + MINUTE)
    a_cancel(world)(schedule.id, OWNER)
    world.run_until(START + 6 * MINUTE)
    world.update_journal()
    found = a_lookup(world).by_id(schedule.id, OWNER)
    assert events_of(found) == [("scheduled", False), ("enqueued", False), ("cancelled", False)]
    assert isinstance(found, Status)
    assert found.state is State.CANCELLED
    assert world.target.reached == []
