"""What the page on failure says of a stream that is not read for an hour, with the functions of the stack."""

import re
from collections.abc import Callable

from attrs import frozen

from delayer.enqueue.rules import HEARTBEAT_WAIT
from delayer.schedule.instants import HOUR, MINUTE, Millis
from delayer.schedule.schedule import Schedule
from tests.cfn import ROOT
from tests.faults.scenarios import check_fired_once
from tests.world import PERIOD, START, World

SECTION = (ROOT / "docs/how-it-works/failure.md").read_text().split("\n## The stream stalls for an hour\n")[1]
STALLS: Millis = START + HOUR  # from then on nobody reads the stream
GOES_ON: Millis = STALLS + HOUR


@frozen
class Posted:
    """A schedule, and how late it may be by the page."""

    schedule: Schedule
    at_most: Millis


def said(row: str) -> Millis:
    """The minutes in the last cell of a row of the table; what is on time has none."""
    [cell] = re.findall(rf"^\| {re.escape(row)}.*\| ([^|]+) \|$", SECTION.split("\n## ")[0], re.MULTILINE)
    minutes = re.search(r"(\d+) minutes", cell)
    assert minutes or cell == "nothing", cell
    return int(minutes[1]) * MINUTE if minutes else 0


def post(world: World, due: Millis, row: str) -> Posted:
    schedule = world.post(due)
    assert schedule is not None, "it is accepted, whether the stream is read or not"
    return Posted(schedule, said(row))


def test_what_becomes_of_each_schedule() -> None:
    world = World()
    world.post(START)
    world.run_until(START + MINUTE)
    before = [
        *(post(world, STALLS + due * MINUTE, "posted before, due in its first 14 minutes") for due in (1, 7, 13)),
        *(post(world, STALLS + due * MINUTE, "posted before, due later in the stall") for due in (16, 30, 59)),
        post(world, GOES_ON + 20 * MINUTE, "due after it"),
    ]
    world.run_until(STALLS)
    meanwhile = stalled(
        world,
        lambda: [
            post(world, STALLS + 2 * MINUTE, "posted during the stall, due in it"),
            post(world, STALLS + 40 * MINUTE, "posted during the stall, due in it"),
            post(world, GOES_ON + 30 * MINUTE, "due after it"),
        ],
    )
    world.run_until(GOES_ON + 2 * HOUR)
    check_fired_once("the stream stalled for an hour", world)
    late = [(world.reached(one.schedule)[0] - one.schedule.point_in_time, one.at_most) for one in before + meanwhile]
    waits = HEARTBEAT_WAIT  # of a tick, while which nobody else is at work in this world
    assert [pair for pair in late if pair[0] > pair[1] + waits] == []
    assert max(late)[0] > 50 * MINUTE, "nothing hid the stall"


def stalled(world: World, post_some: Callable[[], list[Posted]]) -> list[Posted]:
    """An hour in which nobody reads the stream; everything else runs."""
    world.stopped.add("stream-enqueuer")
    posted = post_some()
    world.run_until(GOES_ON)
    world.stopped.clear()
    assert world.observer.counts["SweepHeld"] >= 50
    return posted


def test_the_14_minutes_are_the_delayer_period() -> None:
    assert PERIOD == 14 * MINUTE
