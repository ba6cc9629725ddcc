"""The file and its disk: small steps in pauses, and none too late."""

import errno
import json
import sqlite3
from pathlib import Path

import pytest
from attrs import define

from delayer.engines.sqlite.database import Broken
from delayer.engines.store.model import Put
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND
from delayer.schedule.tables import JOURNAL, LEDGER, SCHEDULES
from delayer.serve.data.space import MEGABYTE, Space
from delayer.serve.data.upkeep import (
    EXPIRE,
    FREE_KEPT,
    GROWS,
    LARGE,
    MEGABYTES,
    PAGES,
    PAUSE,
    ROWS,
    SHORT_PAUSE,
    TOO_LARGE,
    VACUUM,
    Checkpoint,
    Chore,
    Upkeep,
    checkpoint,
    is_time,
    pages_to_free,
)
from delayer.serve.turns.lead import log_of
from delayer.serve.turns.parts import Chosen
from tests.cfn import ROOT
from tests.unit.serve.world import START, URL, World

LIMIT = 64 * MEGABYTES


@define
class Disk:
    free: int = 1_000 * MEGABYTE
    error: int = 0

    def __call__(self) -> int:
        if self.error:
            raise OSError(self.error, "the disk does not answer")
        return self.free


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(path=str(tmp_path / "a.db"))


@pytest.fixture
def upkeep(world: World, tmp_path: Path, disk: Disk) -> Upkeep:
    space = Space(folder=tmp_path, free=disk, reserve=MEGABYTE)
    return world.machine.upkeep(space, log_of(world.path))


# ------------------------------------------------------------ the rules


@pytest.mark.parametrize(
    ("log", "gap", "step"),
    [
        (0, 0, Checkpoint.NONE),
        (MEGABYTES, SHORT_PAUSE, Checkpoint.NONE),
        (MEGABYTES, PAUSE, Checkpoint.MOVE),
        (5 * MEGABYTES, 0, Checkpoint.NONE),
        (5 * MEGABYTES, SHORT_PAUSE, Checkpoint.MOVE),
        (LARGE, 0, Checkpoint.MOVE),
        (TOO_LARGE, 0, Checkpoint.EMPTY),
        (LIMIT, PAUSE, Checkpoint.EMPTY),
    ],
)
def test_the_larger_the_log_the_less_it_waits_for_a_pause(log: int, gap: int, step: Checkpoint) -> None:
    assert checkpoint(log, gap) is step


@pytest.mark.parametrize(
    ("free", "pages", "given"),
    [
        (0, 10, 0),
        (FREE_KEPT, 2_000, 0),
        (FREE_KEPT + 3, 2_000, 3),
        (5_000, 10_000, PAGES),
        (5_000, 60_000, 0),
    ],
)
def test_a_tenth_of_the_file_may_stay_free(free: int, pages: int, given: int) -> None:
    assert pages_to_free(free, pages) == given


def test_a_chore_waits_for_a_pause_but_not_for_ever() -> None:
    chore = Chore(every=SECOND, gap=20, latest=MINUTE, hurry=100)
    assert not is_time(chore, SECOND - 1, PAUSE, has_more=False)
    assert is_time(chore, SECOND, 20, has_more=False)
    assert not is_time(chore, SECOND, 19, has_more=False)
    assert is_time(chore, MINUTE, 0, has_more=False)
    assert is_time(chore, 0, 20, has_more=True)
    assert not is_time(chore, 99, 19, has_more=True)
    assert is_time(chore, 100, 0, has_more=True)
    assert is_time(chore, -DAY, 0, has_more=False), "a clock that was set back keeps nothing from being done"


# ------------------------------------------------------------ the log


def fill(world: World, number: int, size: int = 60_000) -> None:
    world.machine.turns.begin()
    for at in range(number):
        put = Put("junk", {"id": str(at)}, {"text": "x" * size})
        world.machine.turns.do(lambda put=put: world.machine.items.write(put), lambda _: None)  # type: ignore[misc]
    world.machine.turns.end()


def test_in_a_pause_the_log_is_written_back_and_begins_anew(world: World, upkeep: Upkeep, tmp_path: Path) -> None:
    fill(world, 30)
    before = (tmp_path / "a.db").stat().st_size
    upkeep.turn(PAUSE)
    assert (tmp_path / "a.db").stat().st_size > before
    log = log_of(world.path)()
    fill(world, 20)
    assert log_of(world.path)() == log, "it is written anew, from its beginning"


def test_however_much_is_written_without_a_pause_the_log_stays_below_its_limit(world: World, upkeep: Upkeep) -> None:
    most = 0
    for _ in range(6):
        fill(world, 240)  # 15 MB in one turn
        most = max(most, log_of(world.path)())
        upkeep.turn(0)
    assert most < LIMIT


def test_a_reader_that_stays_is_warned_of_and_does_not_stop_the_engine(world: World, upkeep: Upkeep) -> None:
    world.connections[0].execute("PRAGMA busy_timeout = 10")
    reader = sqlite3.connect(world.path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM items").fetchone()
    fill(world, 800)
    fill(world, 1)
    upkeep.turn(0)
    upkeep.turn(0)
    assert [line for line, *_ in world.observer.lines] == ["a reader keeps the log of the database from being emptied"]
    reader.close()
    world.clock.at += MINUTE
    upkeep.turn(0)
    assert log_of(world.path)() < MEGABYTES


# ------------------------------------------------------------ rows


def count(world: World, table: str) -> int:
    [(number,)] = world.machine.database.read("SELECT count(*) FROM items WHERE table_name = ?", (table,))
    return int(number)


def test_history_is_deleted_after_its_days_and_the_rest_with_it(tmp_path: Path, disk: Disk) -> None:
    world = World(path=str(tmp_path / "a.db"), settings={"chosen": Chosen(keep_for=40 * DAY)})
    upkeep = world.machine.upkeep(Space(folder=tmp_path, free=disk, reserve=MEGABYTE), log_of(world.path))
    for _ in range(50):
        world.post(START + SECOND)
    world.run_until(START + MINUTE)
    rows = count(world, JOURNAL)
    assert rows >= 150
    assert count(world, LEDGER) == 50
    world.clock.at = START + 31 * DAY
    while upkeep.expire():
        world.settle()
    assert count(world, LEDGER) == 0
    assert count(world, JOURNAL) >= 150
    world.clock.at = START + 41 * DAY
    while upkeep.expire():
        world.settle()
    assert count(world, JOURNAL) == rows - 50, "the ends"
    world.clock.at = START + 91 * DAY
    turns = 1
    while upkeep.expire():
        turns += 1
    assert turns == (rows - 50) // ROWS + 1
    assert count(world, JOURNAL) == 0
    assert not world.observer.lines


def test_what_is_to_be_fired_never_expires_however_long_the_engine_was_off(world: World, tmp_path: Path) -> None:
    """On AWS the TTL of a record fires it. Here nothing would hear of it."""
    ids = [world.post(START + SECOND), world.post(START + SECOND, precision="relaxed")]
    world.clock.at = START + 20 * DAY
    world = world.next_life()
    upkeep = world.machine.upkeep(Space(folder=tmp_path, free=Disk(), reserve=MEGABYTE), log_of(world.path))
    upkeep.expire()
    assert count(world, SCHEDULES) == 2
    world.settle()
    assert sorted(one for one, _ in world.reached) == sorted(ids)
    assert {world.state(one) for one in ids} == {"executed"}


def test_expiry_is_no_cancel_and_no_event_of_a_schedule(world: World, upkeep: Upkeep) -> None:
    one = world.post(START + SECOND)
    world.run_until(START + MINUTE)
    events = count(world, JOURNAL)
    world.clock.at = START + 31 * DAY
    upkeep.expire()
    world.settle()
    assert count(world, JOURNAL) == events
    assert world.call("api-schedule-get", id=one).status == 410 or world.state(one)


def test_events_are_forgotten_after_a_week_if_all_have_read_them(world: World, upkeep: Upkeep) -> None:
    for _ in range(30):
        world.post(START + SECOND)
    world.run_until(START + MINUTE)
    [(before,)] = world.machine.database.read("SELECT count(*) FROM changes", ())
    world.clock.at = START + 7 * DAY
    assert not upkeep.forget()
    assert world.machine.database.read("SELECT count(*) FROM changes", ()) == [(before,)]
    world.clock.at += HOUR
    world.machine.feed.cursors["stream-lifecycle"] = 0  # one has read nothing
    assert not upkeep.forget()
    assert world.machine.database.read("SELECT count(*) FROM changes", ()) == [(before,)]
    world.machine.feed.cursors["stream-lifecycle"] = world.machine.feed.last
    while upkeep.forget():
        pass
    assert world.machine.database.read("SELECT count(*) FROM changes", ()) == [(1,)], "numbers go on from the newest"


def test_pages_go_back_step_by_step(world: World, upkeep: Upkeep, tmp_path: Path) -> None:
    fill(world, 150)
    world.machine.items.forget("junk")
    upkeep.turn(PAUSE)
    size = (tmp_path / "a.db").stat().st_size
    for _ in range(40):
        world.clock.at += VACUUM.every
        upkeep.turn(PAUSE)
    assert (tmp_path / "a.db").stat().st_size < size - 4 * MEGABYTES
    assert world.machine.database.free_pages()[0] <= FREE_KEPT


def test_it_does_its_chores_by_itself(world: World, upkeep: Upkeep) -> None:
    for _ in range(40):
        world.post(START + SECOND)
    world.run_until(START + MINUTE)
    upkeep.turn(PAUSE)
    world.clock.at = START + 200 * DAY
    for _ in range(10):
        world.clock.at += EXPIRE.hurry
        upkeep.turn(0)
    assert count(world, JOURNAL) == count(world, LEDGER) == 0


# ------------------------------------------------------------ the disk


def test_with_too_little_disk_nothing_new_is_taken_and_all_else_goes_on(
    world: World, upkeep: Upkeep, disk: Disk
) -> None:
    one, other = world.post(START + HOUR), world.post(START + HOUR)
    disk.free = 50 * MEGABYTE
    world.clock.at += SECOND
    upkeep.turn(0)
    body = {"pointInTime": "2027-02-01T00:00:00Z", "action": {"type": "http-request", "url": URL}}
    refused = world.call("api-schedule-post", body)
    assert refused.status == 503
    assert refused.headers["Retry-After"] == "30"
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert "disk" in json.loads(refused.body)["detail"]
    assert world.call("api-schedule-delete", id=other).status == 200
    world.run_until(START + HOUR + SECOND)
    assert world.state(one) == "executed"
    assert world.state(other) == "cancelled"
    disk.free = 1_000 * MEGABYTE
    upkeep.turn(0)
    assert world.call("api-schedule-post", body).status == 201
    lines = [line for line, *_ in world.observer.lines]
    assert lines == ["too little disk: nothing new is accepted", "enough disk again"]


def test_all_functions_of_the_api_are_decided() -> None:
    """Those that may write more rows than they delete are refused."""
    api = {one.name for one in (ROOT / "functions").iterdir() if one.name.startswith("api-")}
    goes_on = {
        "api-action-list",
        "api-connection-get",
        "api-connection-test",
        "api-default",
        "api-group-delete",
        "api-job-get",
        "api-schedule-delete",
        "api-schedule-get",
        "api-schedule-list",
        "api-schedule-stop",
        "api-series-delete",
        "api-series-get",
        "api-series-list",
        "api-series-pause",
        "api-series-preview",
        "api-signing-secret",
    }
    assert goes_on.isdisjoint(GROWS)
    assert goes_on | GROWS == api


def test_a_full_disk_gets_the_reserve_and_the_turn_is_done_again(
    world: World, upkeep: Upkeep, disk: Disk, tmp_path: Path
) -> None:
    one, other = world.post(START + HOUR), world.post(START + HOUR)
    upkeep.turn(0)
    reserve = tmp_path / "reserve"
    assert reserve.exists()
    connection = world.connections[0]
    [pages] = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()  # full

    release = upkeep.space.release

    def released() -> bool:
        connection.execute(f"PRAGMA max_page_count = {pages + 1_000}").fetchone()
        return release()

    upkeep.space = type("Released", (), {"release": staticmethod(released)})()
    assert world.call("api-schedule-delete", id=other).status == 200
    for number in range(1, 40):
        fill(world, number, size=6_000)
        assert count(world, "junk") == number
    assert not reserve.exists()
    assert world.machine.is_restricted
    world.run_until(START + HOUR + SECOND)
    assert world.state(one) == "executed"


def test_an_io_error_of_the_disk_ends_the_engine(world: World, upkeep: Upkeep, disk: Disk) -> None:
    disk.error = errno.EIO
    with pytest.raises(Broken):
        upkeep.turn(0)


def test_what_cannot_be_looked_at_is_as_if_there_were_no_room(world: World, upkeep: Upkeep, disk: Disk) -> None:
    disk.error = errno.EACCES
    upkeep.turn(0)
    assert world.machine.is_restricted
