"""When a message that never comes to an end is given up: a killer, told from its neighbours and an outage. The canary.

A receive count cannot tell them apart: throttled deliveries and outages count, too. So before a message that has come
back is touched, a row notes that a run with it begins; the row is deleted when the function comes to the end of the
run, whatever came of it. A row that is found is of a run of which the function died: only that makes a suspect of a
message (ADR 0158). It proves something against the suspect only if the function has come to the end of others since: if
they all die, the fault is the function's (ADR 0081).
"""

import json
from enum import StrEnum
from typing import Any, Final

from attrs import frozen

from delayer.schedule.instants import DAY, MINUTE, SECOND, Millis, minute_of
from delayer.schedule.schedule import Definition

LONG: Final[Millis] = 30 * MINUTE  # in a queue; what is sent ahead of its time is there for up to 15 minutes
NOTED_FROM: Final = 2  # receives of a message from which on its runs are noted: the first one is nearly always the last
PROOFS: Final = 5  # runs in a row that died of it while others passed, until it is a killer
WAITS_AT_MOST: Final[Millis] = 3 * DAY  # whatever is wrong with it: SQS deletes it after 14 days
BLOCKS_AT_MOST: Final[Millis] = 5 * MINUTE  # a shard waits for a record that kills its function no longer
LONE_AGE: Final[Millis] = MINUTE  # a record alone in its batch, and older than this, is a suspect
RELAY: Final = "delayer-relay"
STEPPER: Final = "series-stepper"
EXECUTOR: Final = "executor-"  # with which the names of the executors begin, and those of their queues
UNKNOWN_TYPES: Final = "executor-remote"  # there, a schedule of a type without an executor waits
WORKING: Final = {"DelayerQueue": RELAY, "SeriesQueue": STEPPER}
NEAR_AHEAD: Final[Millis] = 30 * SECOND
FAR_AHEAD: Final[Millis] = 2 * MINUTE  # beyond the delayer period: a later tick sweeps it
ON_LATE: Final = '{"after":"PT5M","do":"drop"}'  # after an outage the old ones do not come all at once


@frozen(kw_only=True)
class Trial:
    """A run with a suspect that is under way, or never came to an end."""

    began: Millis
    proofs: int = 0  # earlier runs that died of it, while others passed


@frozen
class Try:
    """Handle it once more, after this trial is noted."""

    trial: Trial


@frozen
class SetAsideSuspect:
    """It is to wait somewhere else, because all that comes after it waits for it."""


@frozen
class GiveUpSuspect:
    """It becomes a dead letter. `reason` is to be read by an operator."""

    reason: str


def has_come_back(receives: int) -> bool:
    """Whether a run with it is to be noted. It says nothing of the message: perhaps no function has seen it yet."""
    return receives >= NOTED_FROM


def waits_long(sent_at: Millis, receives: int, now: Millis) -> bool:
    """Whether somebody should look: it has come back, and has been in its queue for longer than any delay is."""
    return has_come_back(receives) and bool(sent_at) and now - sent_at > LONG


def decide_trial(before: Trial | None, passed: Millis | None, sent_at: Millis, now: Millis) -> Try | GiveUpSuspect:
    """Whether a suspect is handled once more.

    `before` is the last run that never came to an end; `passed` is when its function last came to the end of something
    else, None if that is not known; `sent_at` is when the message was sent, 0 if that is not known.
    """
    proofs = proofs_against(before, passed)
    if proofs >= PROOFS:
        return GiveUpSuspect(f"its function died of it {proofs} times, and came to the end of others in between")
    if before and has_waited(sent_at, now):
        return GiveUpSuspect("its function died of it, and it has waited for three days")
    return Try(Trial(began=now, proofs=proofs))


def has_waited(sent_at: Millis, now: Millis) -> bool:
    """Whether a suspect that could not be handled this time either is given up, before SQS deletes it."""
    return bool(sent_at) and now - sent_at > WAITS_AT_MOST


def decide_record_trial(
    before: Trial | None, passed: Millis | None, changed_at: Millis, now: Millis
) -> Try | SetAsideSuspect | GiveUpSuspect:
    """The same for a record of the stream that is alone in its batch: its shard waits for it."""
    decision = decide_trial(before, passed, 0, now)
    if isinstance(decision, Try) and before and now - changed_at > BLOCKS_AT_MOST:
        return SetAsideSuspect()
    return decision


def proofs_against(before: Trial | None, passed: Millis | None) -> int:
    """How many runs died of it while others passed; arguments as those of `decide_trial`."""
    if before is None:
        return 0
    return before.proofs + (passed is not None and passed >= before.began)


def consumer_of(body: str, origin: str, stack: str) -> str:
    """The function, without the name of the stack.

    `origin` is the queue from which SQS has moved the message: `<stack>-<name>-<the first part of the stack's id>`. It
    is empty if somebody has sent the message here, such as a move from a deleted stack: then the body tells.
    """
    name = origin.removeprefix(f"{stack}-").rpartition("-")[0]
    if name.startswith(EXECUTOR):
        return name
    return WORKING.get(name) or _by_body(body)


def _by_body(body: str) -> str:
    """A glance: the function reads it again, and strictly. What nobody can read the relay makes a dead letter of."""
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError):
        return RELAY
    match content:
        case {"specversion": _}:
            return STEPPER
        case {"fence": _, "action": {"type": str(kind)}}:
            return EXECUTOR + kind
    return RELAY


class Path(StrEnum):
    """The two ways into the delayer queue: each has a canary of its own, since one can fail without the other."""

    NEAR = "near"  # due within the delayer period: the fast track
    FAR = "far"  # due beyond it: the sweep of a later tick


@frozen(kw_only=True)
class Canary:
    """A tick schedules this, and an alarm rings if it does not arrive."""

    path: Path
    point_in_time: Millis
    definition: Definition


def next_canary(now: Millis, period: Millis) -> Canary:
    """The canary of a tick at this instant; the minutes take turns. `period` is the delayer period."""
    path = Path.FAR if minute_of(now) % 2 else Path.NEAR
    ahead = NEAR_AHEAD if path is Path.NEAR else period + FAR_AHEAD
    action = f'{{"type":"canary","path":"{path}"}}'
    return Canary(path=path, point_in_time=now + ahead, definition=Definition(action=action, on_late=ON_LATE))
