"""delayer-relay: killed between any two steps, every batch twice; handed over once."""

from delayer.engines.ports import Outgoing
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, MINUTE, SECOND, STALE_AFTER
from tests.fakes.faults import FaultPlan
from tests.faults.cases import every_fault, spoiled
from tests.faults.scenarios import check_fired_once, check_sound, soon_and_later
from tests.looking import all_rows
from tests.world import START, World


def test_every_fault() -> None:
    """It fires once; what a crash between claim and hand-over left is repaired once the lease has lapsed.

    Not before: within the lease, the first may still be at it. It takes about two seconds, for 60 faults.
    """
    for case, world in every_fault("relay", soon_and_later):
        check_fired_once(case, world)
        for schedule in world.accepted:
            late = world.reached(schedule)[0] - max(schedule.point_in_time, START)
            assert late <= world.delayer_queue.visibility + SECOND, case


def test_every_batch_twice() -> None:
    """The second delivery of a message finds its own claim with the lease running: it comes back, and finds the end."""
    world = spoiled("relay", soon_and_later, FaultPlan(), duplicated=True)
    check_fired_once("duplicated", world)
    assert world.handed_over() == 5


def malformed_message(world: World) -> None:
    world.post(START + MINUTE)
    world.delayer_queue.send([Outgoing(body="{not json", delay_seconds=30)])
    world.post(START + MINUTE)
    world.run_out(START + HOUR)


def test_a_message_that_cannot_be_read_is_dead_lettered_and_its_neighbours_fire() -> None:
    for case, world in every_fault("relay", malformed_message):
        check_fired_once(case, world)
        assert len(world.store.list("dead-lettered/malformed/", "", 10)) == 1, case


def test_an_action_without_executor_waits_until_there_is_one() -> None:
    """A deployment that forgot it is rolled back: nothing was claimed meanwhile, and nobody has to act (ADR 0081).

    It takes two seconds, for all faults beside it.
    """

    def scenario(world: World) -> None:
        whole = world.relay
        world.relay = _without_executors(world)
        world.post(START + MINUTE)
        world.run_until(START + 5 * MINUTE)
        assert not all_rows(world.ledger)
        world.relay = whole
        world.run_out(START + HOUR)

    for case, world in every_fault("relay", scenario):
        check_fired_once(case, world)


def _without_executors(world: World):  # type: ignore[no-untyped-def] # the relay's own type, evolved
    from attrs import evolve

    return evolve(world.relay, executor_queues={})


def test_a_copy_more_than_29_days_late_is_dead_lettered_never_fired() -> None:
    """Its ledger row may be about to expire: nobody could say whether it fired (ADR 0023)."""

    def scenario(world: World) -> None:
        world.post(START + MINUTE)
        world.run_until(START + SECOND)
        world.ticking = False  # it has left the table
        world.clock.move(STALE_AFTER + HOUR)
        world.run_out(world.clock.now() + HOUR)

    for case, world in every_fault("relay", scenario):
        check_sound(case, world)
        row = world.row(world.accepted[0])
        assert row is not None
        assert row.state is State.DEAD_LETTERED, case
        assert world.target.reached == [], case


def test_a_message_too_early_to_hold_goes_back_with_its_nonce() -> None:
    """29 minutes ahead is two rounds of the queue; it is one copy all the while."""
    world = World()
    schedule = world.post(START + 29 * MINUTE + 7)
    assert schedule is not None
    world.table.delete(list(all_rows(world.table)))
    world.run_out(START + HOUR)
    check_fired_once("re-sent", world)
    assert world.delayer_queue.sent == 2
    assert world.reached(schedule) == [schedule.point_in_time]
