"""What must hold, and what is raised when it does not."""

from enum import StrEnum
from typing import Final


class Invariant(StrEnum):
    """What must hold."""

    NEVER_EARLY = "1 never early"
    NOTHING_LOST = "2 nothing lost"
    NOBODY_NEEDED = "2 nobody needed"
    CANCEL_TRUTH = "3 cancel tells the truth"
    ONCE = "4 handed over once"
    COST = "5 cost follows what is due"
    RETRIES = "attempts follow the retry policy"
    HARMLESS = "6 one bad record harms only itself"
    UNSUSPECTED = "nothing is a suspect that killed nobody"
    ONE_END = "exactly one end"
    NOTHING_WAITS = "nothing waits at the end"
    LEGAL = "only the transitions of the lifecycle"
    ONE_NAME = "one live schedule of a name"
    EACH_ONCE = "each occurrence of a series once"
    NONE_MISSING = "no occurrence of a series is missing"
    ONE_KEY = "one schedule of an idempotency key"
    STOPPED = "no attempt after a stop"
    LIMITED = "no more attempts than a limit allows"
    WAITS = "what has to wait waits, and nothing else"
    DROPPED_WHEN_LATE = "dropped when it is too late by its own rule"
    NO_DEFECT = "no function raises an error of its own"
    AS_ASKED = "what is stored is what was asked for"
    FOLD = "the fold of the events is the state of the ledger"
    HISTORY = "a history tells what happened"


class Broken(AssertionError):
    """An invariant does not hold."""

    def __init__(self, invariant: Invariant, what: str) -> None:
        super().__init__(invariant, what)
        self.invariant = invariant
        self.what = what

    def __str__(self) -> str:
        return f"{self.invariant}: {self.what}"


# The pairs of states that a ledger row may have one after the other, written down once more and by hand: the code makes
# its rows by a table of its own, and an oracle that read the same table would agree with whatever it says.
ALLOWED: Final = frozenset(
    {
        ("nothing", "decided"),
        ("nothing", "scheduled"),
        ("nothing", "claimed"),
        ("nothing", "cancelled"),
        ("nothing", "replaced"),
        ("nothing", "dropped"),
        ("nothing", "dead-lettered"),
        ("scheduled", "scheduled"),
        ("scheduled", "claimed"),
        ("scheduled", "cancelled"),
        ("scheduled", "replaced"),
        ("scheduled", "dropped"),
        ("scheduled", "dead-lettered"),
        ("claimed", "claimed"),
        ("claimed", "executed"),
        ("claimed", "failed"),
        ("claimed", "dropped"),
        ("claimed", "dead-lettered"),
        ("dead-lettered", "scheduled"),
        ("dead-lettered", "executed"),
        ("dead-lettered", "dropped"),
        ("dead-lettered", "cancelled"),
        ("dead-lettered", "replaced"),
        ("failed", "scheduled"),
        ("failed", "executed"),
        ("failed", "replaced"),
        ("dropped", "executed"),
    }
)
