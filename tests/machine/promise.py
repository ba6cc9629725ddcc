"""What a machine promises, and what is raised when it does not hold."""

from enum import StrEnum


class Promise(StrEnum):
    """What must hold on one machine, whatever happens to its process, its disk and its clock."""

    NEVER_EARLY = "never early"
    NOTHING_LOST = "nothing lost"
    CANCEL_TRUTH = "cancel tells the truth"
    ONCE = "handed over once"
    CLAIMED_FIRST = "no attempt before its claim is on the disk"
    HEARD = "no answer before it is on the disk"
    UNWRITABLE = "no attempt begins while nothing can be written"
    AT_ONCE = "what was under way is attempted at once in the next life"
    LEGAL = "only the transitions of the lifecycle"
    RETRIES = "attempts follow the retry policy"
    STOPPED = "no attempt after a stop"
    AS_ASKED = "what is stored is what was asked for"
    ONE_END = "one end, and the true one"
    DROPPED_WHEN_LATE = "dropped when it is too late by its own rule"
    ONE_NAME = "one live schedule of a name"
    ONE_KEY = "one schedule of an idempotency key"
    EACH_ONCE = "each occurrence of a series once"
    NONE_MISSING = "no occurrence of a series is missing"
    GOES_ON = "a series goes on"
    HISTORY = "a history tells what happened"
    ON_TIME = "in a story without faults, on time"
    NOTHING_WAITS = "nothing waits at the end"
    NO_DEFECT = "nothing raises an error of its own"


class Broken(AssertionError):
    """A promise that does not hold."""

    def __init__(self, promise: Promise, what: str) -> None:
        super().__init__(promise, what)
        self.promise = promise
        self.what = what

    def __str__(self) -> str:
        return f"{self.promise}: {self.what}"
