"""Which dead letters a command for many is given for, and how it is carried out (ADR 0077)."""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from attrs import evolve, frozen

from delayer.core.recovery.dead_letter import Contents, decode
from delayer.core.recovery.waiting import PREFIXES as BROUGHT_BACK
from delayer.core.recovery.waiting import WHY_DISCARDED
from delayer.core.schedule.instants import Millis, parse_instant
from delayer.core.schedule.schedule import Schedule

PER_SECOND: Final = 50  # schedules, unless the command says otherwise
SLOWEST, FASTEST = 10, 1000  # slower, and an object of a hundred schedules would not be done within one call
COMMANDS: Final = ("redrive", "discard")
FIELDS: Final = ("prefix", "reason", "from", "until", "owner", "group", "action")


class WrongOrder(ValueError):
    """A command for many that says something this code does not know. Nothing was done."""


@frozen(kw_only=True)
class Filed:
    """What an object of the store says about itself."""

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
        """What is brought back by itself is left alone, unless a discard asks for it by its prefix."""
        return self.prefix.startswith(BROUGHT_BACK) or not key.startswith(BROUGHT_BACK)

    def of(self, filed: Filed, contents: Contents) -> Contents | None:
        """What the command is given for in an object; None if nothing."""
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
    """What is brought back by itself is not redriven, and discarded only if it is asked for in full."""
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


def filed(content: bytes) -> Filed:
    """Whatever is stored. Never raises."""
    try:
        letter = decode(content)
    except ValueError:
        return _filed_records(content)
    return Filed(reason=letter.reason, owner=letter.owner, at=letter.at)


def _filed_records(content: bytes) -> Filed:
    """What waits to be brought back: set aside by the enqueuer, or put there by Lambda."""
    try:
        file = json.loads(content)
        reason, at = file.get("reason"), file.get("at")
        return Filed(
            reason=reason if isinstance(reason, str) else WHY_DISCARDED,
            owner="",
            at=at if isinstance(at, int) else parse_instant(file["timestamp"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return Filed(reason=WHY_DISCARDED, owner="", at=0)
