"""Decides what a redrive does with one dead letter, and which ones an operator means."""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from attrs import evolve, frozen

from delayer.dead_letters.model import BROUGHT_BACK, WHY_DISCARDED, Contents, decode
from delayer.ledger.model import REDRIVEN, EventType, LedgerChange, LedgerRow, State, amended, new_row
from delayer.ledger.rules import at_rest_from, ended, ended_unclaimed
from delayer.schedule.instants import STALE_AFTER, Millis, parse_instant
from delayer.schedule.schedule import Schedule

REDRIVABLE: Final = frozenset({State.DEAD_LETTERED, State.FAILED, State.SCHEDULED})
DISCARDABLE: Final = frozenset({State.DEAD_LETTERED, State.SCHEDULED})
TO_THE_TABLE: Final = (
    "redriven to the table"  # in place of a fencing token, until the body that was redriven is deleted
)

DISCARDED: Final = "discarded by an operator"
ACCEPTED: Final = "its target has accepted it, and only this could not be written: discard it"
PER_SECOND: Final = 50  # schedules, unless the command says otherwise
COMMANDS: Final = ("redrive", "discard")
FIELDS: Final = ("prefix", "reason", "from", "until", "owner", "group", "action")


@frozen(kw_only=True)
class LeftAsIs:
    """Why a command leaves a schedule as it is."""

    reason: str
    settled: bool  # whether its stored body is not needed any more


def decide_redrive(
    schedule: Schedule, row: LedgerRow | None, now: Millis, *, accepted: bool = False
) -> LeftAsIs | None:
    """None: it is redriven. `accepted` says that the body carries the outcome of an attempt that was accepted."""
    if accepted:
        return LeftAsIs(reason=ACCEPTED, settled=False)
    if row and not row.ended and row.state is not State.SCHEDULED:
        # The function that stored this body may not have written the end yet: the body must not be deleted.
        return LeftAsIs(reason=f"not redriven: it is {row.state}; try again later", settled=False)
    if row and row.state not in REDRIVABLE:
        return LeftAsIs(reason=f"not redriven: it is {row.state}", settled=True)
    if row and row.stopped_at:
        return LeftAsIs(reason="not redriven: its owner has stopped it; discard it", settled=False)
    if now - schedule.point_in_time > STALE_AFTER:
        return LeftAsIs(reason="not redriven: it is more than 29 days late; POST it again", settled=False)
    return None


def decide_discard(
    schedule: Schedule, row: LedgerRow | None, now: Millis, *, handed_over: bool
) -> LedgerChange | LeftAsIs:
    """The end that a discard writes (ADR 0072). Raises IllegalTransition.

    `handed_over` says that the body is a message of an executor's queue. Whoever wanted to cancel a claimed schedule
    was told that it has been or will be handed over: it is not dropped before that is true, unless its owner stops it.
    """
    if row is None:
        return LedgerChange(row=ended_unclaimed(schedule.id, schedule.owner, State.DROPPED, now, DISCARDED))
    if row.state not in DISCARDABLE:
        if row.ended:
            return LeftAsIs(reason=f"it stays {row.state}", settled=True)
        return LeftAsIs(reason=f"it is {row.state}: on its way; wait for its end", settled=False)
    if row.claimed_at and not (handed_over or row.was_attempted or row.stopped_at):
        reason = (
            "it was claimed, and is not known to have been handed over: redrive it. If its target must not be reached "
            "any more, its owner stops it first (POST /schedules/{id}/stop)"
        )
        return LeftAsIs(reason=reason, settled=False)
    return LedgerChange(row=ended(row, State.DROPPED, now, DISCARDED), over=row)


def redriven(schedule_id: str, owner: str, over: LedgerRow | None, nonce: str, now: Millis) -> LedgerRow:
    """`nonce` is that of the copy sent to the delayer queue, which alone may claim it; empty if it goes to the table.

    A schedule without a row gets one, too: an end that is written late finds it. The revision of an older row goes on,
    so that what was decided by an older revision cannot be repeated. It also keeps when it was claimed before, and
    until when an attempt from before may be under way (ADR 0070). Raises IllegalTransition.
    """
    return new_row(
        EventType.REDRIVEN,
        schedule_id,
        owner,
        now,
        over=over,
        to=State.ENQUEUED if nonce else State.SCHEDULED,
        nonce=nonce,
        fence="" if nonce else TO_THE_TABLE,
        detail=REDRIVEN,
        claimed_at=over.claimed_at if over else 0,
        lease_until=at_rest_from(over) if over else 0,
    )


def settled(row: LedgerRow) -> LedgerRow:
    """The row of what was redriven to the table, once no stored body of it is left: it may be dead-lettered again."""
    return amended(row, fence="")


SLOWEST, FASTEST = 10, 1000  # slower, and an object of a hundred schedules would not be done within one call


class WrongOrder(ValueError):
    """A command for many that says something this code does not know. Nothing was done."""


@frozen(kw_only=True)
class DeadLetterMetadata:
    """The facts that an object of the store says about itself."""

    reason: str
    owner: str  # empty if it is unknown, or if there are several
    at: Millis  # when it was stored; 0 if it does not say


@frozen(kw_only=True)
class Selection:
    """All conditions must hold; what is empty holds for everything."""

    until: (
        Millis  # stored before this instant. So a run never meets what it has itself sent on its way and failed again
    )
    since: Millis = 0  # stored at this instant or later
    prefix: str = ""  # how the key begins
    reason: str = ""  # part of the reason, in small or capital letters
    owner: str = ""
    group: str = ""
    action: str = ""  # its type

    def looks_at(self, key: str) -> bool:
        """Leaves alone the records that are brought back without a command, unless a discard asks for them by their
        prefix.
        """
        return self.prefix.startswith(BROUGHT_BACK) or not key.startswith(BROUGHT_BACK)

    def of(self, filed: DeadLetterMetadata, contents: Contents) -> Contents | None:
        """Returns the part of an object that the command is given for; None if there is none."""
        if self.reason.casefold() not in filed.reason.casefold() or not self.since <= filed.at < self.until:
            return None
        chosen = tuple(one for one in contents.schedules if self._takes(one))
        if chosen:
            return evolve(contents, schedules=chosen, others=len(contents.schedules) - len(chosen))
        is_malformed = not (contents.schedules or self.group or self.action) and self.owner in ("", filed.owner)
        return contents if is_malformed else None

    def _takes(self, schedule: Schedule) -> bool:
        definition = schedule.definition
        is_of = self.owner in ("", schedule.owner) and self.group in ("", definition.group)
        return is_of and (not self.action or self.action == definition.action_type)


@frozen(kw_only=True)
class Order:
    """A command for many."""

    command: Literal["redrive", "discard"]
    selection: Selection
    per_second: int = PER_SECOND
    dry_run: bool = False
    after: str = ""  # the last key that is done


def admit_order(given: Mapping[str, Any], now: Millis) -> Order:
    """The command of an operator. Raises WrongOrder: a condition with a typing error must not mean "all"."""
    where = given.get("where")
    if given.get("command") not in COMMANDS or not isinstance(where, dict):
        raise WrongOrder('a command for many is "redrive" or "discard" with an object "where"')
    if strange := sorted({str(name) for name in where} - set(FIELDS)):
        raise WrongOrder(f"unknown in where: {', '.join(strange)}; known are {', '.join(FIELDS)}")
    if wrong := [name for name, value in where.items() if not isinstance(value, str)]:
        raise WrongOrder(f"not a text in where: {', '.join(wrong)}")
    if strange := sorted({str(name) for name in given} - {"command", "where", "perSecond", "dryRun", "after"}):
        raise WrongOrder(f"unknown beside where: {', '.join(strange)}; known are perSecond, dryRun and after")
    _check_prefix(where.get("prefix", ""), given["command"])
    per_second, dry_run, after = given.get("perSecond", PER_SECOND), given.get("dryRun", False), given.get("after", "")
    if type(per_second) is not int or not SLOWEST <= per_second <= FASTEST:
        raise WrongOrder(f"perSecond is a whole number from {SLOWEST} to {FASTEST}")
    if not isinstance(dry_run, bool) or not isinstance(after, str):
        raise WrongOrder('dryRun is true or false, and after is the "next" of the answer before')
    return Order(
        command=given["command"],
        selection=Selection(
            prefix=where.get("prefix", ""),
            reason=where.get("reason", ""),
            since=_instant(where, "from", 0),
            until=_instant(where, "until", now),
            owner=where.get("owner", ""),
            group=where.get("group", ""),
            action=where.get("action", ""),
        ),
        per_second=per_second,
        dry_run=dry_run,
        after=after,
    )


def _check_prefix(prefix: str, command: str) -> None:
    """Refuses the redrive of records that are brought back without it; they are discarded only if that is asked for in
    full.
    """
    if prefix.startswith(BROUGHT_BACK):
        if command == "redrive":
            raise WrongOrder(f"what is under {' and '.join(BROUGHT_BACK)} is brought back by itself every five minutes")
        return
    if whole := [one for one in BROUGHT_BACK if prefix and one.startswith(prefix)]:
        raise WrongOrder(f"{prefix!r} is only a part of {whole[0]!r}: give the whole prefix")


def _instant(where: Mapping[str, str], name: str, otherwise: Millis) -> Millis:
    try:
        return parse_instant(where[name]) if where.get(name) else otherwise
    except ValueError as error:
        raise WrongOrder(f"{name}: {error}") from error


def filed(content: bytes) -> DeadLetterMetadata:
    """Describes an object, whatever is stored in it. Never raises."""
    try:
        letter = decode(content)
    except ValueError:
        return _filed_records(content)
    return DeadLetterMetadata(reason=letter.reason, owner=letter.owner, at=letter.at)


def _filed_records(content: bytes) -> DeadLetterMetadata:
    """Describes records that wait to be brought back: the enqueuer set them aside, or Lambda put them there."""
    try:
        file = json.loads(content)
        reason, at = file.get("reason"), file.get("at")
        return DeadLetterMetadata(
            reason=reason if isinstance(reason, str) else WHY_DISCARDED,
            owner="",
            at=at if isinstance(at, int) else parse_instant(file["timestamp"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return DeadLetterMetadata(reason=WHY_DISCARDED, owner="", at=0)
