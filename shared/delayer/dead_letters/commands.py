"""The commands of an operator, as the payload of an invocation: for one dead letter, and for many (ADR 0077)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any, Final, TypeVar

from attrs import define, evolve, field, frozen

from delayer.dead_letters.model import Contents
from delayer.dead_letters.redrive import NO_SCHEDULE, OPERATOR, REDRIVEN, Impossible, Redrive, Report, report
from delayer.dead_letters.rules import (
    LeftAsIs,
    Order,
    Selection,
    WrongOrder,
    admit_order,
    decide_discard,
    decide_redrive,
    filed,
)
from delayer.engines.ports import Clock, Parallel, Unavailable
from delayer.ledger.model import IllegalTransition, LedgerChange
from delayer.schedule.instants import SECOND, Millis, format_instant
from delayer.schedule.schedule import Schedule

REASONS: Final = 20  # different ones that an answer shows: it stays short, however many texts there are
SAMPLE: Final = 3  # keys for each of them
OTHERS: Final = "other reasons"
DONE: Final = {"redrive": "redriven", "discard": "discarded"}  # what a command has done
KEYS: Final = 500  # of one list; an object is read when its turn comes, so that few bodies are in memory at a time
READ_TOGETHER: Final = 20  # objects; one that Lambda wrote may have megabytes
AT_A_TIME: Final = 10  # schedules
MAX_NAME: Final = 200
USAGE: Final = (
    'give {"command": "list", "prefix": "", "after": ""} '
    'or {"command": "show" | "redrive" | "discard", "key": "<from list>", "by": "<who you are>"} '
    'or {"command": "redrive" | "discard", "where": {"prefix": "", "reason": "", "from": "", "until": "", "owner": "", '
    '"group": "", "action": ""}, "dryRun": false, "perSecond": 50, "after": "", "by": "<who you are>"}'
)


@define(kw_only=True)
class Tally:
    """Of one call, or of a part of it. An object that nobody can read counts as one schedule."""

    done_up_to: str  # the last key up to which all is done and counted
    ahead: Sequence[str] = ()  # the keys that come next
    looked_at: int = 0  # objects
    matched: int = 0  # objects
    done: int = 0  # schedules
    refused: Counter[str] = field(factory=Counter)  # schedules, by the reason of the refusal
    reasons: Counter[str] = field(factory=Counter)  # objects, by the reason for which they were stored
    sample: dict[str, list[str]] = field(factory=dict)  # the first keys of each such reason

    def add(self, key: str, why_stored: str, reports: Sequence[Report], order: Order) -> None:
        """One object, and what came of its schedules."""
        self.pass_to(key)
        self.matched += 1
        known = _short(why_stored, self.reasons)
        self.reasons[known] += 1
        if len(keys := self.sample.setdefault(known, [])) < SAMPLE:
            keys.append(key)
        if not reports:
            reports = [({"outcome": NO_SCHEDULE, "settled": True}, None)]
        for one, _ in reports:
            if one["outcome"] == REDRIVEN if order.command == "redrive" else one["settled"]:
                self.done += 1
            else:
                self.refused[_short(one["outcome"], self.refused)] += 1

    def pass_to(self, key: str) -> None:
        """Notes that this key, and all before it, need nothing more."""
        passed = self.ahead.index(key) + 1
        self.looked_at += passed
        self.ahead, self.done_up_to = self.ahead[passed:], key

    def shown(self, order: Order) -> dict[str, Any]:
        """As the command answers it."""
        counts: dict[str, Any] = {
            "lookedAt": self.looked_at,
            "matched": self.matched,
            DONE[order.command]: self.done,
            "refused": dict(self.refused.most_common()),
            "until": format_instant(order.selection.until),
        }
        if order.dry_run:
            reasons = {
                reason: {"matched": number, "sample": self.sample[reason]}
                for reason, number in self.reasons.most_common()
            }
            counts |= {"dryRun": True, "reasons": reasons}
        return counts


def _short(reason: str, known: Mapping[str, object]) -> str:
    return reason if reason in known or len(known) < REASONS else OTHERS


Thing = TypeVar("Thing")
Answer = TypeVar("Answer")


@frozen(kw_only=True)
class SelectedObject:
    """An object that the command is given for."""

    key: str
    why_stored: str
    contents: Contents  # its schedules are those that were selected


@frozen(kw_only=True)
class One:
    """One schedule of an object."""

    schedule: Schedule
    handed_over: bool  # as that of its contents
    accepted: bool  # as that of its contents


Do = Callable[[One], Report | Unavailable]


@define(kw_only=True)
class Pace:
    """Lets so many pass in a second, and never makes up for a pause: a herd would meet one target."""

    clock: Clock
    per_second: int
    following: Millis = 0
    lock: Any = field(factory=Lock)

    def wait(self) -> None:
        """Until it is this one's turn."""
        with self.lock:
            turn = max(self.following, self.clock.now())
            self.following = turn - (-SECOND // self.per_second)
        self.clock.sleep_until(turn)


@frozen(kw_only=True)
class Bulk:
    """A command for many."""

    clock: Clock
    parallel: Parallel
    redrive: Redrive
    budget: Millis = field(default=40_000)  # after this long the call is answered; the function has a minute

    def __call__(self, order: Order) -> dict[str, Any]:
        """The counts of this call; `next` if there may be more, and `interrupted` if AWS failed."""
        tally, end = Tally(done_up_to=order.after), self.clock.now() + self.budget
        rest: dict[str, Any] = {}
        try:
            for _ in self._progress(order, tally):
                if self.clock.now() > end:
                    rest = {"next": tally.done_up_to}
                    break
        except Unavailable as error:
            rest = {"next": tally.done_up_to, "interrupted": str(error)}
        return tally.shown(order) | rest

    def _progress(self, order: Order, tally: Tally) -> Iterator[None]:
        """Key after key, in their order. Yields wherever the rest can be left to the next call."""
        pace = Pace(clock=self.clock, per_second=order.per_second)
        do: Do = partial(self._foretell, order) if order.dry_run else partial(self._carry_out, order, pace)
        for tally.ahead in self._keys(order):
            looked = answers(self.parallel.map(partial(self._look, order.selection), tally.ahead))
            for some in groups([found for found in looked if found]):
                self._handle(some, do, order, tally)
                yield
            if tally.ahead:
                tally.pass_to(tally.ahead[-1])
            yield

    def _keys(self, order: Order) -> Iterator[Sequence[str]]:
        after = order.after
        while keys := self.redrive.dead_letter_store.list(order.selection.prefix, after, KEYS):
            yield from parts([key for key in keys if order.selection.looks_at(key)], READ_TOGETHER)
            after = keys[-1]

    def _look(self, selection: Selection, key: str) -> SelectedObject | Unavailable | None:
        """An exception in a thread would leave the others at work; so it is returned."""
        try:
            content = self.redrive.dead_letter_store.get(key)
        except Unavailable as error:
            return error
        if content is None:  # somebody else was faster
            return None
        about = filed(content)
        contents = selection.of(about, self.redrive.read_dead_letter(content))
        return SelectedObject(key=key, why_stored=about.reason, contents=contents) if contents else None

    def _handle(self, some: Sequence[SelectedObject], do: Do, order: Order, tally: Tally) -> None:
        """All schedules of some objects, a few at a time; then each object that is not needed any more is deleted."""
        each = [
            One(schedule=schedule, handed_over=found.contents.handed_over, accepted=found.contents.accepted)
            for found in some
            for schedule in found.contents.schedules
        ]
        reports = iter([one for part in parts(each, AT_A_TIME) for one in answers(self.parallel.map(do, part))])
        for found in some:
            own = list(islice(reports, len(found.contents.schedules)))
            if not order.dry_run:
                self._close(found, own, order)
            tally.add(found.key, found.why_stored, own, order)

    def _foretell(self, order: Order, one: One) -> Report | Unavailable:
        """Says what the command would do, by the row of this moment."""
        schedule, now = one.schedule, self.clock.now()
        decision: LeftAsIs | LedgerChange | None
        try:
            row = self.redrive.ledger.read(schedule.id)
            if order.command == "redrive":
                decision = decide_redrive(schedule, row, now, accepted=one.accepted)
            else:
                decision = decide_discard(schedule, row, now, handed_over=one.handed_over)
        except Unavailable as error:
            return error
        except IllegalTransition as error:
            return report(schedule, str(error), settled=False), None
        if isinstance(decision, LeftAsIs):
            return report(schedule, decision.reason, settled=decision.settled), None
        return report(schedule, REDRIVEN, settled=True), None

    def _carry_out(self, order: Order, pace: Pace, one: One) -> Report | Unavailable:
        schedule = one.schedule
        pace.wait()
        try:
            if order.command == "redrive":
                return self.redrive.redrive_one(schedule, accepted=one.accepted)
            return self.redrive.discard_one(schedule, handed_over=one.handed_over), None
        except Unavailable as error:
            return error
        except (Impossible, IllegalTransition) as error:
            return report(schedule, str(error).replace(schedule.id, "it"), settled=False), None

    def _close(self, found: SelectedObject, reports: Sequence[Report], order: Order) -> None:
        if order.command == "redrive":
            if reports:
                self.redrive.close(found.key, found.contents, reports)
        elif not found.contents.others and all(one["settled"] for one, _ in reports):
            self.redrive.dead_letter_store.remove(found.key)


def answers(outcomes: Iterable[Answer | Unavailable]) -> list[Answer]:
    """Raises the first failure, once all are done."""
    given = []
    for one in outcomes:
        if isinstance(one, Unavailable):
            raise one
        given.append(one)
    return given


def parts(things: Sequence[Thing], at_most: int) -> list[Sequence[Thing]]:
    """In their order."""
    return [things[at : at + at_most] for at in range(0, len(things), at_most)]


def groups(matches: Iterable[SelectedObject]) -> Iterator[list[SelectedObject]]:
    """Objects in their order, until they hold enough schedules for a part: one object may hold a hundred."""
    group: list[SelectedObject] = []
    for found in matches:
        group.append(found)
        if sum(len(one.contents.schedules) for one in group) >= AT_A_TIME:
            yield group
            group = []
    if group:
        yield group


def respond(bulk: Bulk, event: Any) -> dict[str, Any]:
    """{"ok": true, "result": …}, or {"ok": false, "error": a sentence}. Never raises for a wrong command."""
    try:
        signed = evolve(bulk, redrive=evolve(bulk.redrive, by=_operator(event)))
        return {"ok": True, "result": _carry_out(signed, event)}
    except (Impossible, WrongOrder, Unavailable, IllegalTransition) as error:
        return {"ok": False, "error": str(error)}


def _operator(event: Any) -> str:
    """As the command says; the trail of who invoked the function is CloudTrail's."""
    name = event.get("by", "") if isinstance(event, dict) else ""
    if not (isinstance(name, str) and name.isprintable() and len(name) <= MAX_NAME):
        raise Impossible(f"by: give at most {MAX_NAME} printable characters")
    return f"{OPERATOR}: {name}" if name else OPERATOR


def _carry_out(bulk: Bulk, event: Any) -> Any:
    given, redrive = event if isinstance(event, dict) else {}, bulk.redrive
    if "where" in given:
        if "key" in given:
            raise WrongOrder("give key or where, not both")
        return bulk(admit_order({name: given[name] for name in given if name != "by"}, bulk.clock.now()))
    prefix, after = given.get("prefix", ""), given.get("after", "")
    match given.get("command"), given.get("key"):
        case "list", None if isinstance(prefix, str) and isinstance(after, str):
            return redrive.list(prefix, after)
        case _, "":
            raise Impossible(USAGE)
        case "show", str(key):
            return redrive.show(key)
        case "redrive", str(key):
            return redrive.redrive(key)
        case "discard", str(key):
            return redrive.discard(key)
    raise Impossible(USAGE)
