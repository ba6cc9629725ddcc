"""Each rule of a limit is taken out, one at a time. The search has to find what the rule prevents."""

from typing import Any, Final

from attrs import evolve

from delayer.engines.store.model import Delete, entry_key
from delayer.flow.ports import Booked, Elsewhere
from delayer.flow.repository import SLOTS_LIST, StoredLines
from delayer.flow.rules.limit import line_of
from delayer.schedule.messages import Slot
from tests.model.guard import Guard
from tests.model.limits.state import NOW, PATIENT, TICK, Budget
from tests.model.limits.steps import REAL


class Unconditional(StoredLines):
    """Whoever knows of nobody begins the line anew."""

    def begin_line(self, line: str, first: int, end: int, expires_at: int) -> Booked | Elsewhere:
        self.store.write(Delete(self.table, entry_key(SLOTS_LIST, line)))
        return super().begin_line(line, first, end, expires_at)


class WhereItWas(StoredLines):
    """Whoever books behind the last one takes the last one to be the one that it knows."""

    def extend_line(self, line: str, known: int, by: int, slack: int, expires_at: int) -> Booked | Elsewhere:
        found = super().extend_line(line, known, by, slack, expires_at)
        return Booked(known) if isinstance(found, Booked) else found


def _whenever(slots: Any, limits: Any, now: int) -> bool:
    """A turn that was missed is used all the same."""
    return all(slot.at <= now for slot in slots) and {slot.line for slot in slots} == {line_of(one) for one in limits}


def _of_any_line(slots: Any, limits: Any, now: int) -> bool:
    """A turn counts, whatever the limit was when it was booked."""
    return REAL.in_time([Slot(line=line_of(limits[0]), at=slot.at) for slot in slots], limits, now)


GUARDS: Final = (
    Guard(
        name="a turn is booked once",
        what="two environments that know nothing of each other give the same turn twice",
        without=evolve(REAL, lines=Unconditional),
        possible=Budget(messages=2, crashes=1),
    ),
    Guard(
        name="the row says where the line ends",
        what="an environment that knows less than there is gives turns that others have",
        without=evolve(REAL, lines=WhereItWas),
        possible=Budget(failures=2),
    ),
    Guard(
        name="a missed turn is void",
        what="several that come late are attempted at the same time",
        without=evolve(REAL, in_time=_whenever, held=lambda slots, *_: slots),
        possible=Budget(),
    ),
    Guard(
        name="a turn is of one line",
        what="turns of the limit as it was are used beside those of the limit as it is",
        without=evolve(REAL, in_time=_of_any_line, held=lambda slots, *_: slots),
        possible=Budget(changes=1),
    ),
    Guard(
        name="who is not told has no turn",
        what="an environment whose booking got no answer goes on as if it had been written",
        without=evolve(REAL, goes_on_if_lost=True),
        possible=Budget(messages=2, lost=1),
    ),
    Guard(
        name="what is of no use is not booked",
        what="turns are booked by those who cannot wait for them",
        without=evolve(REAL, latest=lambda _: NOW + PATIENT),
        possible=Budget(waits=TICK),
    ),
    Guard(
        name="a missed turn is booked anew",
        what="who has missed its turn is never attempted",
        without=evolve(REAL, books_again=False),
        possible=Budget(messages=1),
    ),
)
