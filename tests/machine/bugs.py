"""Deliberate bugs of a machine. Each is switched in on its own, and has to be found by the promise that it breaks.

A story that finds nothing proves nothing until it is shown to find what is there.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from attrs import field, frozen

from delayer.engines.sqlite.database import Database, Unwritten
from delayer.engines.sqlite.feed import SqliteFeed
from delayer.engines.sqlite.queue import SqliteQueue
from delayer.relay.relay import Successors
from delayer.serve.turns import machine as machines
from delayer.serve.turns.attempts import Attempts
from delayer.serve.turns.fire import Fire
from delayer.serve.turns.following import FeedSource
from delayer.serve.turns.machine import Machine
from delayer.serve.turns.turn import Turn
from delayer.wiring.pump import Source
from tests.machine.promise import Promise
from tests.machine.simulated import FOUND, Here
from tests.machine.story import Played, play
from tests.machine.weather import Weather
from tests.simulation.bugs import BY_NAME as SIMULATED
from tests.simulation.bugs.bug import Bug as SimulationBug

FULL: Final = Weather(full=0.1, full_for_long=True, outages=True, retries=0.5, slow=300)
KILLED: Final = Weather(kills=1, retries=0.7, slow=5)
SET: Final = Weather(kills=1, jumps=1, retries=0.2, slow=5)
Swap = tuple[Any, str, Any]  # where, what, by what


@frozen(kw_only=True)
class Bug:
    """One defect. It is found if a story breaks the promise that it must break."""

    name: str
    what: str
    breaks: Promise
    weather: Weather | None = None  # in which it shows soon; None: that of each seed
    is_rare: bool = False  # it takes a minute to find it
    swaps: tuple[Swap, ...] = field(repr=False)
    same: SimulationBug | None = field(default=None, repr=False)  # it is that of the simulation

    def switched_in(self) -> ExitStack:
        """As long as the context lasts, the code has this bug."""
        stack = ExitStack()
        if self.same:
            stack.enter_context(self.same.switched_in())
        for where, name, instead in self.swaps:
            stack.enter_context(patch.object(where, name, instead))
        return stack


def find(bug: Bug, seeds: Sequence[int]) -> Played | None:
    """The first story that finds it."""
    with bug.switched_in():
        for seed in seeds:
            played = play(seed, bug.weather)
            if played.broken and played.broken.promise is bug.breaks:
                return played
    return None


def _answers_at_once(self: Turn, do: Callable[[], Any], deliver: Callable[[Any], None]) -> None:
    """In the place of Turn.do."""
    try:
        with self.database.writing():
            outcome = do()
    except Exception as error:  # noqa: BLE001 - as there
        outcome = error
    deliver(outcome)


def _requests_at_once(self: Attempts, number: int, do: Callable[[], Any]) -> None:
    """In the place of Attempts.do: a course goes on with what is not on the disk."""
    try:
        with self.turn.database.writing():
            outcome = do()
    except Exception as error:  # noqa: BLE001 - as there
        outcome = error
    self._ended.append((number, outcome))


def _fires_first(self: Machine) -> bool:
    """In the place of Machine._fire_and_execute: what was handed over in this turn is taken up in it."""
    moved = self._fire()
    executors = [self.executor(one.removeprefix("executor-")) for one in self.queues if one.startswith("executor-")]
    return any([self._take_up(one) | self._lead(one) for one in executors]) or moved  # noqa: C419 - each has its turn


def _deletes_first(self: Machine, one: Any) -> bool:
    """In the place of Machine._take_up."""
    received = one.queue.receive(self.attempts)
    for message in received:
        self.turns.do(partial(one.queue.settle, [message], []), lambda _: None)
        one.desk.begin(one.execute.settle(message), lambda _: None)
    return bool(received)


_fire_all = Fire._fire_all


def _leaves_the_record(self: Fire, due: Any, now: Any) -> None:
    """In the place of Fire._fire_all: the record goes in a later turn, if it is claimed by then."""

    class LeftRecords:
        table = self.schedules.table
        delete = staticmethod(lambda keys: None)

    left = {key: item for key, item in due.items() if key not in _fired}
    if left:
        _fired.update(left)
        object.__setattr__(self, "schedules", LeftRecords)
        _fire_all(self, left, now)


_fired: set[str] = set()


def _moves_first(self: Machine, source: Source) -> bool:
    """In the place of Machine._take: the cursor of the feed moves a turn before what it leads to is done."""
    moved = False
    for batch in source.batches():
        moved = True
        if not isinstance(source, FeedSource):
            self.turns.do(partial(self._run, batch), partial(self._has_run, batch))
            continue
        self.turns.do(partial(batch.settle, []), lambda _: None)
        use = partial(self.uses[batch.function], batch.items)
        self._again.append(partial(self.turns.do, use, lambda _: None))
    return moved


def _sets_aside(self: Machine, batch: Any, outcome: Any) -> None:
    """In the place of Machine._has_run: the cursor goes on, and nothing is set aside."""
    if isinstance(outcome, Exception):
        self._again.append(partial(self.turns.do, partial(batch.settle, []), lambda _: None))


def _forgets_nothing(self: Machine, batch: Any, outcome: Any) -> None:
    """In the place of Machine._has_run."""
    if isinstance(outcome, Exception) and not isinstance(outcome, Unwritten):
        self._again.append(partial(self._set_aside, batch, outcome))


def _takes_nothing_up(self: SqliteQueue) -> None:
    """In the place of SqliteQueue.__attrs_post_init__: whatever is in an executor's queue is somebody's."""
    self.database.undone.append(self._ask)
    if self.name.startswith("executor-"):
        rows = self.database.read("SELECT number, message_group FROM messages WHERE queue = ?", (self.name,))
        self.out.update(dict(rows))


def _has_done(self: Attempts, number: int, do: Any, outcome: Any) -> None:
    """In the place of Attempts._has_done."""
    self._ended.append((number, outcome))


def _nothing(*_: Any) -> None:
    """In the place of whatever has to be done."""


class _Always:
    """A field that is always true."""

    def __get__(self, *_: Any) -> bool:
        return True

    def __set__(self, *_: Any) -> None: ...


BUGS: Final = (
    Bug(
        name="attempt-before-claim",
        what="an attempt begins before its claim is committed",
        breaks=Promise.CLAIMED_FIRST,
        swaps=((Machine, "_fire_and_execute", _fires_first), (Attempts, "do", _requests_at_once)),
    ),
    Bug(
        name="answer-before-commit",
        what="calls are answered before the commit",
        breaks=Promise.HEARD,
        swaps=((Turn, "do", _answers_at_once),),
    ),
    Bug(
        name="deleted-before-outcome",
        what="a message is deleted before the outcome of its attempt is written",
        breaks=Promise.NOTHING_LOST,
        swaps=((Machine, "_take_up", _deletes_first),),
    ),
    Bug(
        name="record-outlives-claim",
        what="a record is not deleted with its claim",
        breaks=Promise.ONCE,
        swaps=((Fire, "_fire_all", _leaves_the_record),),
    ),
    Bug(
        name="cursor-first",
        what="the cursor of the feed is moved before what it leads to is done",
        breaks=Promise.HISTORY,
        weather=KILLED,
        swaps=((Machine, "_take", _moves_first),),
    ),
    Bug(
        name="skipped-when-full",
        what="what follows from a change is skipped if it cannot be written",
        breaks=Promise.HISTORY,
        weather=FULL,
        swaps=((Machine, "_has_run", _sets_aside),),
    ),
    Bug(
        name="cursor-outlives-rollback",
        what="the feed remembers how far its readers were in a turn that never was",
        breaks=Promise.HISTORY,
        weather=FULL,
        swaps=((SqliteFeed, "_forget_recent", _nothing),),
    ),
    Bug(
        name="successors-outlive-rollback",
        what="the relay remembers what it has sent again in a turn that never was",
        breaks=Promise.NOTHING_LOST,
        weather=FULL,
        is_rare=True,
        swaps=((machines, "Successors", lambda at_most: Successors()),),
    ),
    Bug(
        name="out-outlives-rollback",
        what="a queue remembers that somebody has a message, after a turn that never was",
        breaks=Promise.NOTHING_LOST,
        weather=FULL,
        is_rare=True,
        swaps=((Machine, "_has_run", _forgets_nothing),),
    ),
    Bug(
        name="former-life-forgotten",
        what="a claim of an earlier life is never taken up again",
        breaks=Promise.AT_ONCE,
        weather=KILLED,
        swaps=((SqliteQueue, "__attrs_post_init__", _takes_nothing_up),),
    ),
    Bug(
        name="numbers-by-the-clock",
        what="numbers of changes and messages begin with the clock, which may have been set back since the last life",
        breaks=Promise.HISTORY,
        weather=SET,
        swaps=((machines, "last_number", lambda database: 0),),
    ),
    Bug(
        name="lost-unnoticed",
        what="nobody sees that SQLite has undone the whole transaction by itself",
        breaks=Promise.NOTHING_LOST,
        weather=FULL,
        swaps=((Database, "_check_there", _nothing),),
    ),
    Bug(
        name="outcome-not-kept",
        what="an outcome that cannot be written does not stay for the next turn",
        breaks=Promise.ONCE,
        weather=FULL,
        swaps=((Attempts, "_has_done", _has_done),),
    ),
    Bug(
        name="begins-unwritable",
        what="attempts begin while nothing can be written",
        breaks=Promise.UNWRITABLE,
        weather=FULL,
        swaps=((Turn, "can_write", _Always()),),
    ),
    Bug(
        name="sent-twice",
        what="after a kill between two turns, the message of the next attempt is sent once more under another token",
        breaks=Promise.ONCE,
        weather=KILLED,
        is_rare=True,
        swaps=((machines, "evolve", lambda one, **new: _evolved(one, new)),),
    ),
)


def _simulated(name: str, here: Here) -> Bug:
    """A bug of the simulation, and by what it is found here."""
    same = SIMULATED[name]
    swaps = tuple((where, attribute, instead) for where in here.also for _, attribute, instead in same.swaps)
    return Bug(
        name=name,
        what=same.what,
        breaks=here.breaks,
        weather=here.weather,
        is_rare=here.is_rare,
        swaps=swaps,
        same=same,
    )


OF_THE_SIMULATION: Final = tuple(_simulated(name, here) for name, here in FOUND.items())
BY_NAME: Final = {bug.name: bug for bug in (*BUGS, *OF_THE_SIMULATION)}


def _evolved(one: Any, new: dict[str, Any]) -> Any:
    from attrs import evolve

    return evolve(one, **{name: value for name, value in new.items() if name != "is_sure"})
