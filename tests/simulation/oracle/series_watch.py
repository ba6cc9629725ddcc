"""Sees what is written about each series: each occurrence once, none missing, none after a cancel that did not name it.

The times of a rule are reckoned here once more and by hand, from the rule as its client sent it.
"""

import json
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from delayer.accept.ports import RequestRow
from delayer.history import cloud_events
from delayer.ledger.model import LedgerChange, LedgerRow, State
from delayer.schedule.instants import MINUTE, Millis, format_instant, parse_instant
from delayer.schedule.schedule import Schedule
from delayer.series.rules.series import Cursor, SeriesDefinition, SeriesState
from delayer.series.use_cases.change import Effect
from delayer.series.use_cases.halt import Halted
from tests.simulation.oracle.invariant import Invariant

if TYPE_CHECKING:
    from tests.simulation.oracle.watch import Watch
    from tests.simulation.story.series_plan import Repeat

ON_ITS_WAY: Millis = 7 * MINUTE  # what was decided is written within this time, however slow
OVER = frozenset({SeriesState.ENDED, SeriesState.CANCELLED, SeriesState.PAUSED})
ENDS = frozenset({"executed", "failed", "dead-lettered", "cancelled", "replaced", "dropped"})
NEVER_RAN = frozenset({State.CANCELLED, State.REPLACED})


@frozen(kw_only=True)
class CursorChange:
    """A cursor, and whatever was written with it: also what a defect alone would write together."""

    cursor: Cursor
    over: Cursor | None
    definition: SeriesDefinition | None
    put: tuple[Schedule, ...]
    ends: tuple[LedgerChange, ...]


@frozen
class Rule:
    """What a client asked for: so many times, one every few minutes."""

    anchor: Millis
    interval: Millis
    count: int
    on_missed: str
    overlap: str

    @property
    def pattern(self) -> tuple[Millis, Millis]:
        """The same for two rules whose times are the same, but for their end."""
        return self.interval, self.anchor % self.interval

    def between(self, after: Millis, before: Millis) -> list[Millis]:
        """Its times later than the one, and earlier than the other instant."""
        times = (self.anchor + number * self.interval for number in range(self.count))
        return [at for at in times if after < at < before]


@frozen
class Put:
    """One occurrence that was put."""

    schedule_id: str
    number: int
    time: Millis
    version: int
    fill: tuple[Millis, Millis] | None  # the range of the backfill that it is of
    is_moved: bool  # it took the place of another


@define(eq=False)
class Seen:
    """All of one series."""

    name: str
    created_at: Millis = 0
    group: str = ""  # its occurrences are in none
    rules: dict[int, Rule] = field(factory=dict)  # by the revision of the definition
    puts: list[Put] = field(factory=list)
    runs: set[str] = field(factory=set)  # the keys of run-now that were asked for
    asked_fills: list[tuple[Millis, Millis]] = field(factory=list)  # the ranges of backfills that were asked for
    fills: list[tuple[Millis, Millis]] = field(factory=list)  # and of those that were begun
    began: dict[str, str] = field(factory=dict)  # what was answered to a key
    changed: dict[str, tuple[int, str, str]] = field(factory=dict)  # and to that of a change
    given_up: set[Millis] = field(factory=set)  # times whose occurrence its owner has cancelled
    version: int = 0  # of the payload, as the last answer has it
    steered: bool = False  # somebody has asked for a pause, a resume, a change, or its end
    resumes: int = 0  # how often one was asked for
    resumed_from: Millis = 0  # when a resume was asked for last
    left_behind: Millis = 0  # what passed before that is never made up: the last resume was written then
    named: frozenset[str] | None = None  # what may still be handed over after a pause or a DELETE; None: all

    def rule_of(self, cursor: Cursor) -> Rule:
        """By which it goes."""
        return self.rules[cursor.definition_revision]


@define(eq=False)
class SeriesWatch:
    """All of them."""

    watch: "Watch"
    seen: dict[str, Seen] = field(factory=dict)
    _by_key: dict[str, str] = field(factory=dict)  # the name of the series that was posted with it
    _series_of: dict[str, str] = field(factory=dict)  # by the id of the occurrence

    # ------------------------------------------------------------ what is written

    def wrote(self, transaction: CursorChange) -> None:
        """A cursor has changed, and whatever was written with it."""
        over, cursor = transaction.over, transaction.cursor
        seen = self.seen.setdefault(cursor.series, Seen(name=f"series {len(self.seen) + 1}"))
        if transaction.definition:
            seen.rules[transaction.definition.revision] = rule_in(transaction.definition)
            seen.group = transaction.definition.definition.group
        state = f"{over.state if over else 'nothing'} → {cursor.state}"
        self.watch.stack.log("series", f"{seen.name}: {state}, number {cursor.number}, revision {cursor.revision}")
        if over is not None and cursor.revision != over.revision + 1:
            self._fail(Invariant.LEGAL, seen, f"has revision {cursor.revision} after {over.revision}")
        filled = cursor.backfill
        if filled and not (over and over.backfill):
            seen.fills.append((filled.since, filled.until))
            if (filled.since, filled.until) not in seen.asked_fills:
                self._fail(Invariant.AS_ASKED, seen, "fills a range for which nobody has asked")
        for schedule in transaction.put:
            self._put(seen, schedule, transaction)
        self._check_named(seen, transaction)
        if over is None:
            seen.created_at = self.watch.stack.kernel.now
            self._check_key(seen, transaction)
        elif not transaction.ends:
            self._note_resume(seen, over, cursor)
            self._check_step(seen, over, cursor)
            self._check_overlap(seen, over, cursor)

    def _put(self, seen: Seen, schedule: Schedule, transaction: CursorChange) -> None:
        """An occurrence is in the table."""
        said: dict[str, Any] = json.loads(schedule.definition.series)
        payload: dict[str, Any] = json.loads(schedule.definition.payload)
        filled = transaction.cursor.backfill
        fill = (filled.since, filled.until) if filled and filled.current == schedule.id else None
        put = Put(
            schedule.id, said["number"], parse_instant(said["time"]), payload["version"], fill, bool(transaction.ends)
        )
        self._series_of[schedule.id] = transaction.cursor.series
        self.watch.stack.log("series", f"{seen.name} puts {self.watch.name(schedule.id)}, number {put.number}")
        self.watch.accepted[schedule.id] = schedule
        self.watch.accepted_at[schedule.id] = self.watch.stack.kernel.now
        self._check_asked(seen, put, payload, schedule, transaction)
        self._check_once(seen, put, transaction)
        seen.puts.append(put)

    def _check_asked(
        self, seen: Seen, put: Put, payload: dict[str, Any], schedule: Schedule, transaction: CursorChange
    ) -> None:
        rule = seen.rules[transaction.cursor.definition_revision]
        if put.number and not put.is_moved and put.time != schedule.point_in_time:
            self._fail(Invariant.AS_ASKED, seen, "puts an occurrence for another time than it says")
        if put.number and not put.is_moved and put.time not in rule.between(put.time - 1, put.time + 1):
            self._fail(Invariant.AS_ASKED, seen, f"puts {format_instant(put.time)}, which is no time of its rule")
        if (payload["number"], payload["time"]) != (str(put.number), format_instant(put.time)):
            self._fail(Invariant.AS_ASKED, seen, "puts an occurrence whose placeholders are not replaced")
        if put.version < seen.version and not put.is_moved:
            self._fail(Invariant.AS_ASKED, seen, "puts an occurrence as it was before its change")
        if seen.named is not None and transaction.cursor.state in (SeriesState.PAUSED, SeriesState.CANCELLED):
            self._fail(Invariant.CANCEL_TRUTH, seen, "puts an occurrence, though it was paused or cancelled")

    def _check_once(self, seen: Seen, put: Put, transaction: CursorChange) -> None:
        """A number, and a time of the rule, are put again only in the place of one that never ran."""
        if put.number:
            same = [one for one in seen.puts if one.number and (one.number == put.number or one.time == put.time)]
            if put.time in seen.given_up and len({one.pattern for one in seen.rules.values()}) == 1:
                self._fail(Invariant.EACH_ONCE, seen, "puts a time again that its owner has cancelled")
        elif put.fill:
            same = [one for one in seen.puts if one.fill == put.fill and one.time == put.time]
            if not put.fill[0] <= put.time < put.fill[1]:
                self._fail(Invariant.AS_ASKED, seen, "fills a time for which nobody has asked")
        else:
            same = []
            run = sum(not one.number and not one.fill and not one.is_moved for one in seen.puts)
            if not put.is_moved and run >= len(seen.runs):
                self._fail(Invariant.EACH_ONCE, seen, f"runs {run + 1} times, and was asked for {len(seen.runs)}")
        if twice := [one for one in same if not self._never_ran(one.schedule_id)]:
            name = self.watch.name(twice[0].schedule_id)
            self._fail(Invariant.EACH_ONCE, seen, f"puts number {put.number} though {name} is there for it")

    def _check_key(self, seen: Seen, transaction: CursorChange) -> None:
        """One series of an idempotency key."""
        key = json.loads(transaction.definition.definition.payload)["madeWith"] if transaction.definition else ""
        if key and self._by_key.setdefault(key, seen.name) != seen.name:
            self._fail(Invariant.ONE_KEY, seen, f"is made by {key}, and so is {self._by_key[key]}")

    def _check_named(self, seen: Seen, transaction: CursorChange) -> None:
        """The cursor names all that may still be claimed: a pause or a DELETE finds it there."""
        over, names = transaction.over, names_in(transaction.cursor)
        for schedule_id in [*names_in(over), *(one.id for one in transaction.put)]:
            if schedule_id not in names and self._may_be_claimed(schedule_id):
                self._fail(Invariant.CANCEL_TRUTH, seen, f"does not name {self.watch.name(schedule_id)} any more")

    def _may_be_claimed(self, schedule_id: str) -> bool:
        row = self._row(schedule_id)
        return row is None or not (row.ended or row.claimed_at)

    def _check_overlap(self, seen: Seen, over: Cursor, cursor: Cursor) -> None:
        """What must not overlap has ended before the next one is put; so has each one of a backfill."""
        before = [over.current] if cursor.number > over.number and seen.rule_of(cursor).overlap != "allow" else []
        if over.backfill and cursor.backfill and cursor.backfill.current != over.backfill.current:
            before.append(over.backfill.current)
        for schedule_id in filter(None, before):
            row = self._row(schedule_id)
            has_ended = (row is not None and row.ended) or schedule_id in self.watch.had_ended  # perhaps redriven since
            if not has_ended:
                self._fail(Invariant.AS_ASKED, seen, f"goes on though {self.watch.name(schedule_id)} has not ended")

    def _note_resume(self, seen: Seen, over: Cursor, cursor: Cursor) -> None:
        """It leaves behind what has passed, also if the last occurrence runs on and steps the series later."""
        if over.state is SeriesState.PAUSED and cursor.state is not SeriesState.PAUSED:
            seen.left_behind = self.watch.stack.kernel.now + self.watch.stack.weather.skew

    def _check_step(self, seen: Seen, over: Cursor, cursor: Cursor) -> None:
        """Between the last occurrence and the next there is no time that is still to come, nor one to be made up."""
        is_next = cursor.current != over.current and (cursor.number > over.number or cursor.state is SeriesState.ENDED)
        if not is_next or seen.rule_of(cursor) != seen.rule_of(over):
            return
        rule, now = seen.rule_of(cursor), self.watch.stack.kernel.now
        before = cursor.at if cursor.state is SeriesState.ACTIVE else rule.anchor + rule.count * rule.interval
        skipped = [at for at in rule.between(over.at, before) if at not in seen.given_up]
        if over.state is SeriesState.PAUSED:
            skipped = [at for at in skipped if not self._was_used(seen, at)]
            if cursor.state is SeriesState.ACTIVE and cursor.at <= seen.resumed_from - self.watch.stack.weather.skew:
                self._fail(Invariant.EACH_ONCE, seen, "makes up a time of its pause")
        makes_up = rule.on_missed != "skip" or rule.overlap == "queue-one"
        if cursor.state is SeriesState.ACTIVE and not makes_up and cursor.at < now - ON_ITS_WAY:
            self._fail(Invariant.EACH_ONCE, seen, "makes up a time that has passed")
        if skipped and max(skipped) > now + self.watch.stack.weather.skew:
            self._fail(Invariant.NONE_MISSING, seen, f"leaves out {format_instant(max(skipped))}, which is to come")
        skipped = [at for at in skipped if at > seen.left_behind]
        if skipped and over.state is SeriesState.ACTIVE and self._makes_up(rule, cursor, now):
            self._fail(Invariant.NONE_MISSING, seen, f"leaves out {len(skipped)} times that it is to make up")

    def _makes_up(self, rule: Rule, cursor: Cursor, now: Millis) -> bool:
        """Whether one that has passed, or all of them, must be made up before anything else."""
        is_next_to_come = cursor.state is SeriesState.ENDED or cursor.at > now + self.watch.stack.weather.skew
        if rule.overlap == "allow" and rule.on_missed == "all":
            return True
        makes_up_one = rule.overlap == "queue-one" or (rule.overlap == "allow" and rule.on_missed == "once")
        return makes_up_one and is_next_to_come

    def _was_used(self, seen: Seen, time: Millis) -> bool:
        return any(one.time == time and not self._never_ran(one.schedule_id) for one in seen.puts if one.number)

    def ledger_wrote(self, old: LedgerRow | None, new: LedgerRow) -> None:
        """The row of any schedule."""
        seen = self._of(new.schedule_id)
        if seen and new.state is State.SCHEDULED and new.schedule_id not in names_in(self._cursor_of(new.schedule_id)):
            name = self.watch.name(new.schedule_id)
            self._fail(Invariant.CANCEL_TRUTH, seen, f"does not name {name}, which is redriven")
        if seen is None or seen.named is None or new.state is not State.CLAIMED:
            return
        if old is None or not old.claimed_at:
            name = self.watch.name(new.schedule_id)
            self._fail(Invariant.CANCEL_TRUTH, seen, f"was paused or cancelled, and {name} is claimed after that")

    def handed_over(self, schedule_id: str) -> None:
        """To the executor, for the first attempt."""
        seen, row = self._of(schedule_id), self._row(schedule_id)
        if row is not None and row.ended:  # a twin of a message from before: its executor refuses it
            return
        if seen is not None and seen.named is not None and schedule_id not in seen.named:
            name = self.watch.name(schedule_id)
            self._fail(Invariant.CANCEL_TRUTH, seen, f"was paused or cancelled, and {name} was not named")

    def took(self, body: str) -> None:
        """An event is deleted: the stepper says that it is handled. What it tells of must not be current any more.

        But for a series that was resumed: it may take what has ended for what still runs, until the net looks.
        """
        event = cloud_events.decode(body)
        seen = self._of(event.schedule_id)
        if seen is None or seen.resumes:
            return
        cursor, has_ended = self._cursor_of(event.schedule_id), str(event.type) in ENDS
        is_current = event.schedule_id == cursor.current and cursor.state is SeriesState.ACTIVE
        if is_current and (has_ended or seen.rule_of(cursor).overlap == "allow"):
            name = self.watch.name(event.schedule_id)
            self._fail(Invariant.NONE_MISSING, seen, f"was told that {name} is {event.type}, and has not gone on")
        is_fill = cursor.backfill is not None and event.schedule_id == cursor.backfill.current
        if is_fill and has_ended and cursor.state not in (SeriesState.PAUSED, SeriesState.CANCELLED):
            name = self.watch.name(event.schedule_id)
            self._fail(Invariant.NONE_MISSING, seen, f"was told that {name} is {event.type}, and fills no further time")

    # ------------------------------------------------------------ what clients ask for, and are answered

    def was_steered(self, schedule_id: str) -> bool:
        """Whether somebody has asked for anything that may end an occurrence."""
        seen = self._of(schedule_id)
        return seen is not None and seen.steered

    def group_of(self, schedule_id: str) -> str:
        """The group of the series that it is an occurrence of: whoever cancels the group ends it, too."""
        seen = self._of(schedule_id)
        return seen.group if seen is not None else ""

    def name(self, series: str) -> str:
        """A short name for the story."""
        return self.seen[series].name if series in self.seen else "a series that there is not"

    def answered_created(self, series: str, asked: "Repeat") -> None:
        """A client was told that it is there."""
        if series not in self.seen:
            self.watch.fail(Invariant.NOTHING_LOST, "a client was told of a series that is not stored")
            return
        rule = self.seen[series].rules[1]
        if rule != Rule(asked.anchor, asked.minutes * MINUTE, asked.count, asked.on_missed, asked.overlap):
            self._fail(Invariant.AS_ASKED, self.seen[series], "does not have the rule that its client sent")

    def asked_to_halt(self, series: str) -> None:
        """A pause, or its end."""
        self.seen[series].steered = True

    def resumes_of(self, series: str) -> int:
        """How often a resume was asked for so far."""
        return self.seen[series].resumes

    def asked_to_resume(self, series: str) -> None:
        """From now on it may hand over again."""
        seen = self.seen[series]
        seen.steered, seen.named, seen.resumed_from = True, None, self.watch.stack.kernel.now
        seen.resumes += 1

    def answered_halted(self, series: str, answer: Halted, resumes: int) -> None:
        """A client was told what was cancelled and what had been claimed. `resumes` were asked for before that."""
        seen = self.seen[series]
        for schedule_id in answer.cancelled:
            self.watch.revoke(schedule_id)
        for row in answer.claimed:
            self.watch.answered_too_late(row)
        before = {one.schedule_id for one in seen.puts if 0 < one.number <= answer.claimed_up_to}
        for schedule_id in sorted(before):
            if self._may_be_claimed(schedule_id):
                name = self.watch.name(schedule_id)
                self._fail(Invariant.CANCEL_TRUTH, seen, f"names {name} as claimed, and it is not")
        if resumes == seen.resumes:  # else somebody has resumed it meanwhile
            seen.named = frozenset(before | {row.schedule_id for row in answer.claimed})

    def answered_group_cancelled(self, series: Set[str]) -> None:
        """A client sees that the group is cancelled, in which these were before."""
        for one in sorted(series):
            seen, state = self.seen[one], self._cursor(one).state
            if state not in (SeriesState.ENDED, SeriesState.CANCELLED):
                self._fail(Invariant.CANCEL_TRUTH, seen, f"is {state}, though its group is cancelled")
            elif state is SeriesState.CANCELLED:
                ids = [put.schedule_id for put in seen.puts]
                seen.named = frozenset(schedule_id for schedule_id in ids if not self._may_be_claimed(schedule_id))

    def asked_to_change(self, series: str) -> None:
        """Its rule, or its payload."""
        self.seen[series].steered = True

    def answered_changed(self, series: str, answer: Effect | RequestRow, version: int, key: str) -> None:
        """A client was told from which number on it goes by the new definition: with 0, the payload is the same."""
        seen = self.seen[series]
        answered = (answer.number, answer.schedule_id, answer.replaces)
        if key and seen.changed.setdefault(key, answered) != answered:
            self._fail(Invariant.ONE_KEY, seen, "is changed once more by a call that was answered before")
        if version:
            seen.version = version
            late = [one for one in seen.puts if one.number >= answer.number and one.version < version]
            if any(not self._never_ran(one.schedule_id) for one in late):
                self._fail(Invariant.AS_ASKED, seen, f"goes by its old payload at number {late[0].number}")
        if answer.replaces:
            self.watch.revoke(answer.replaces)

    def asked_to_run(self, series: str, key: str) -> None:
        """Once, with this key."""
        self.seen[series].runs.add(key)

    def asked_to_fill(self, series: str, since: Millis, until: Millis) -> None:
        """The times of the past in a range."""
        self.seen[series].asked_fills.append((since, until))

    def answered_began(self, series: str, schedule_id: str, key: str) -> None:
        """The same key has always the same answer."""
        seen = self.seen[series]
        if schedule_id not in self._series_of:
            self._fail(Invariant.NOTHING_LOST, seen, "is reported to run an occurrence that is not stored")
        if seen.began.setdefault(key, schedule_id) != schedule_id:
            self._fail(Invariant.ONE_KEY, seen, "is answered with another occurrence for the same key")

    def answered_cancelled(self, schedule_id: str) -> None:
        """The owner has cancelled this one by its own id."""
        seen = self._of(schedule_id)
        if seen is not None:
            seen.given_up |= {one.time for one in seen.puts if one.schedule_id == schedule_id and one.number}

    def check_end(self) -> None:
        """Time has run out."""
        for series, seen in self.seen.items():
            cursor = self._cursor(series)
            if cursor.state not in OVER:
                self._fail(Invariant.NONE_MISSING, seen, f"is {cursor.state} at number {cursor.number}")
            if cursor.state is SeriesState.ENDED:
                self._check_fills(seen, cursor)
            if seen.version > 1 and cursor.definition_revision == 1:
                self._fail(Invariant.AS_ASKED, seen, "was changed, and its cursor does not say so")

    def _check_fills(self, seen: Seen, cursor: Cursor) -> None:
        filled = {one.time for one in seen.puts if one.fill}
        for since, until in seen.fills:
            for rule in seen.rules.values():
                missing = [at for at in rule.between(since - 1, until) if at not in filled]
                if missing and len(seen.rules) == 1:
                    self._fail(Invariant.NONE_MISSING, seen, f"has not filled {format_instant(missing[0])}")
        if cursor.backfill is not None:
            self._fail(Invariant.NONE_MISSING, seen, "has ended, and its backfill has not")

    def waiting(self) -> bool:
        """Whether any has still something to do."""
        return any(
            cursor.state is SeriesState.ACTIVE or (cursor.backfill and cursor.state is SeriesState.ENDED)
            for cursor in map(self._cursor, self.seen)
        )

    def latest_of(self, series: str) -> Sequence[str]:
        """The ids of its occurrences, the latest first."""
        return [one.schedule_id for one in reversed(self.seen[series].puts)]

    def _cursor(self, series: str) -> Cursor:
        return self.watch.stack.there.cursors[series]

    def _cursor_of(self, schedule_id: str) -> Cursor:
        return self._cursor(self._series_of[schedule_id])

    def _of(self, schedule_id: str) -> Seen | None:
        return self.seen.get(self._series_of.get(schedule_id, ""))

    def _row(self, schedule_id: str) -> LedgerRow | None:
        return self.watch.stack.there.ledger.get(schedule_id)

    def _never_ran(self, schedule_id: str) -> bool:
        row = self._row(schedule_id)
        return row is not None and row.state in NEVER_RAN

    def _fail(self, invariant: Invariant, seen: Seen, what: str) -> None:
        self.watch.fail(invariant, f"{seen.name} {what}")


def names_in(cursor: Cursor | None) -> list[str]:
    """All that may still be claimed."""
    if cursor is None:
        return []
    return [one for one in (cursor.current, *cursor.beside, cursor.backfill.current if cursor.backfill else "") if one]


def rule_in(definition: SeriesDefinition) -> Rule:
    """The rule, read once more and by hand."""
    repeat: dict[str, Any] = json.loads(definition.repeat)
    minutes: str = repeat["every"]
    return Rule(
        anchor=parse_instant(repeat["anchor"]),
        interval=int(minutes.removeprefix("PT").removesuffix("M")) * MINUTE,
        count=repeat["count"],
        on_missed=repeat["onMissed"],
        overlap=str(definition.overlap),
    )
