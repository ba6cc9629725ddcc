"""What happens in the fault tests; long enough for every redelivery to have its turn."""

from delayer.actions.rules.model import Refused, Retry
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from tests.looking import all_rows
from tests.world import START, World


def soon_and_later(world: World) -> None:
    """Two by the fast track, one of them overdue; three by the sweep, two of them in the same instant."""
    world.post(START - 20 * SECOND)
    world.post(START + 2 * SECOND + 5)
    for due in (30 * MINUTE + 7, 31 * MINUTE, 31 * MINUTE):
        world.post(START + due)
    world.run_out(START + 2 * HOUR)


def target_down_at_first(world: World) -> None:
    """Two failed attempts, then it works."""
    world.target.answers = [Retry(detail="HTTP 503"), Retry(detail="HTTP 503")]
    world.post(START + 2 * SECOND)
    world.run_out(START + HOUR)


def target_busy_for_long(world: World) -> None:
    """It asks for a delay of which SQS can make only a part, then it works."""
    world.target.answers = [Retry(detail="HTTP 503", after_seconds=2000)]
    world.post(START + 2 * SECOND)
    world.run_out(START + 3 * HOUR)


def target_refuses(world: World) -> None:
    """It gives up at once."""
    world.target.answers = [Refused("HTTP 404")] * 9
    world.post(START + 2 * SECOND)
    world.run_out(START + HOUR)


def check_fired_once(case: str, world: World, reached_at_most: int = 1) -> None:
    """What was answered 201 is executed, once, not early; what was not may have fired, at most once."""
    assert world.accepted, case
    for schedule in world.accepted:
        row = world.row(schedule)
        assert row is not None, case
        assert row.state is State.EXECUTED, f"{case}: {row}"
        assert 1 <= len(world.reached(schedule)) <= reached_at_most, f"{case}: reached {world.reached(schedule)}"
    check_sound(case, world)


def check_sound(case: str, world: World) -> None:
    """Whatever happened: never early, nothing left on the way, each end in the ledger."""
    try:
        world.check_never_early()
        world.check_nothing_left()
    except AssertionError as error:
        raise AssertionError(f"{case}: {error}") from error
    assert all(row.ended for row in all_rows(world.ledger).values()), case
