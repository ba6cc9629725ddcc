"""A story of the whole machine for `tests.crashes`: the power is cut at each point of it, and the next life goes on.

The world marks what it was told: answers, and attempts that reached their targets. The image of each crash point is
opened by a new machine, which runs to its end, and the same promises hold as in all other stories.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from attrs import define, field

from delayer.ledger.model import State
from delayer.schedule.instants import DAY, MINUTE, SECOND, Millis
from tests.crashes.images import CrashPoint
from tests.crashes.recorder import Recorder
from tests.crashes.trying import Broken
from tests.machine.watch import Report, Watch
from tests.machine.weather import Weather
from tests.machine.world import START, World
from tests.simulation.engine.chance import Chance

FILE: Final = "delayer.db"
ACTS: Final = 70  # of clients; attempts and what follows from them come in addition
LENGTH: Final[Millis] = 6 * MINUTE
CHECKPOINT: Final[Millis] = 40 * SECOND  # between two of them
AFTER_A_CUT: Final[Millis] = 8 * MINUTE  # until all has ended that is due by then
WEATHER: Final = Weather(retries=0.3, refusals=0.1, slow=300)
FORGETTING: Final = "forgetting"


def opened(path: str) -> sqlite3.Connection:
    """As the engine opens it."""
    return sqlite3.connect(path, isolation_level=None)


@define(kw_only=True)
class MachineStory:
    """`setting` is a pragma that spoils it."""

    name: str = "machine"
    seed: int = 4
    acts: int = ACTS
    setting: str = ""
    forgotten: set[str] = field(factory=set)  # that had ended before retention began
    answered: Counter[str] = field(factory=Counter)  # calls that were carried out, by the function
    ends: Counter[str] = field(factory=Counter)  # of schedules

    def play(self, recorder: Recorder) -> None:
        """All of it."""
        connection = recorder.connect(str(recorder.folder / FILE))
        world = self._world(connection, recorder.mark)
        world.clients.plan()
        world.begin()
        if self.setting:
            connection.execute(f"PRAGMA {self.setting}")
        for number in range(1, LENGTH // CHECKPOINT + 1):
            world.soon(number * CHECKPOINT, lambda: self._checkpoint(world))
        world.soon(LENGTH * 2 // 3, world.clients.redrive)
        world.run_until(START + LENGTH)
        for series in list(world.clients.active):
            world.clients.halt(series)
        world.run_until(world.clock.true + 7 * MINUTE)  # all has ended
        self._forget(world, recorder)
        world.clients.post()
        world.end()
        if world.watch.broken:
            raise world.watch.broken
        self.answered, self.ends = world.answered, Counter(str(one) for one in world.watch.ends)
        connection.close()

    def _world(self, connection: Any, report: Callable[[Report], None]) -> World:
        world = World(
            chance=Chance(self.seed),
            weather=WEATHER,
            acts=self.acts,
            length=LENGTH,
            afterwards=AFTER_A_CUT,
            long_retries=0,
            base=connection,
            report=report,
        )
        world.asked.is_steady, world.asked.clock_is_set = False, True
        world.watch.is_fair = False  # to be down for a second, or for forty days, is no fair weather
        return world

    def _checkpoint(self, world: World) -> None:
        assert world.machine
        world.machine.database.checkpoint()

    def _forget(self, world: World, recorder: Recorder) -> None:
        """What retention does in forty days."""
        assert world.machine
        self.forgotten = {one for one, row in world.watch.rows.items() if row.ended}
        recorder.mark(Report(FORGETTING, "", world.clock.true - START))
        machine, later = world.machine, world.clock.here + 40 * DAY
        while machine.items.expire(later // SECOND, 20):
            pass
        while machine.feed.forget(later, list(machine.feed.cursors), 50):
            pass
        machine.database.vacuum(50)
        machine.database.checkpoint()

    def check(self, folder: Path, point: CrashPoint) -> None:
        """Opens what the power cut left, and lets it come to its end."""
        connection = opened(str(folder / FILE))
        try:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
            if sound != "ok":
                raise Broken(f"the database is damaged: {sound}")
            self._goes_on(connection, [one for one in point.marks if isinstance(one, Report)])
        finally:
            connection.close()

    def _goes_on(self, connection: sqlite3.Connection, marks: list[Report]) -> None:
        world = self._world(connection, lambda _: None)
        is_forgetting = any(one.what == FORGETTING for one in marks)
        world.clock.true = START + max((one.at for one in marks), default=0) + SECOND
        world.watch.is_loading = True
        if connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'messages'").fetchone()[0]:
            world.disk.open()
        world.watch.is_loading = False
        latest = max((row.at for row in world.watch.rows.values()), default=0)  # the world may have been told later
        world.clock.true = max(world.clock.true, latest + SECOND)
        self._remember(world, marks, self.forgotten if is_forgetting else set())
        world.begin()
        world.end()
        if world.watch.broken:
            raise world.watch.broken

    def _remember(self, world: World, marks: list[Report], forgotten: set[str]) -> None:
        """What the world was told is true by what is on the disk."""
        watch, last = world.watch, dict[str, Report]()
        for one in [mark for mark in marks if mark.id and mark.id not in forgotten]:
            _check(one, watch)
            match one.what:
                case "revoked":
                    watch.revoked.add(one.id)
                case "stopped":
                    watch.stopped[one.id] = -MINUTE
                case "reached":
                    last[one.id] = one
                    watch.tries[one.id, one.nonce, one.attempt] += 1
        for one in last.values():  # of the others the world has seen that they had an outcome
            watch.allowed[one.id, one.nonce, one.attempt] += 1


def _check(one: Report, watch: Watch) -> None:
    row = watch.rows.get(one.id)
    match one.what:
        case "accepted":
            is_true = one.id in watch.schedules or row is not None
        case "revoked":
            is_true = row is not None and row.state in (State.CANCELLED, State.REPLACED)
        case "stopped":
            is_true = row is not None and bool(row.stopped_at or row.ended)
        case _:
            is_true = row is not None and (row.nonce != one.nonce or row.attempt >= one.attempt)
    if not is_true:
        raise Broken(f"{one.id} was {one.what}, and the disk says {row and row.state}")
