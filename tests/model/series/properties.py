"""What must hold of a series in every state, and in the last ones. What is about a put or a claim is checked there."""

from delayer.ledger.model import State
from delayer.series.rules.command import CLOSED
from delayer.series.rules.series import Overlap, SeriesState
from tests.model.series.state import PAST, World


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken or _several(world) or _patch(world)


def broken_at_last(world: World) -> str:
    """What is wrong when nothing can happen any more."""
    if world.cursor.state is SeriesState.ACTIVE:
        return "the series has stopped, though it is active"
    numbers = {one.number for one in world.occurrences if one.number}
    if numbers != set(range(1, world.cursor.number + 1)):
        return "a number is missing"
    if (
        world.cursor.state is SeriesState.ENDED
        and len({one.at for one in world.occurrences if one.number}) < world.budget.times
    ):
        return "a time is missing"
    return _unfinished(world)


def _unfinished(world: World) -> str:
    """A backfill waits for an end that never comes, or has put all of its times."""
    backfill, closed = world.cursor.backfill, world.cursor.state in CLOSED
    if backfill and not closed and (world.waits(backfill.current) or world.is_over(backfill.current)):
        return "the backfill has stopped"
    put = {one.at: world.row(one.id) for one in world.occurrences if one.at in PAST}
    undone = {at for at, row in put.items() if row is None or row.state in (State.CANCELLED, State.REPLACED)}
    is_missing = put and not (backfill or closed) and not set(PAST) <= (set(put) - undone) | world.given_up
    return "a time of the backfill is missing" if is_missing else ""


def _several(world: World) -> str:
    current = [one for one in world.occurrences if not one.is_beside]
    if sum(world.waits(one.id) for one in current) > 1:
        return "two occurrences wait to be claimed"
    if sum(one.is_fill and not world.is_over(one.id) for one in world.occurrences) > 1:
        return "two occurrences of the backfill are live"
    rows = [world.row(one.id) for one in current]
    if world.budget.overlap is not Overlap.ALLOW and sum(not (row and row.ended) for row in rows) > 1:
        return "two occurrences overlap"
    return ""


def _patch(world: World) -> str:
    for number, revision in world.takes_effect:
        for schedule_id in world.claimed:
            one = world.occurrence(schedule_id)
            if not one.is_beside and (one.number >= number) != (one.revision >= revision):
                return f"occurrence {one.number} is claimed with definition {one.revision}, against an answer"
    return ""
