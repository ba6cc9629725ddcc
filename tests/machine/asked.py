"""Whether a machine does what it was asked for: the rules that clients and operators give with a schedule or a series.

They are the same on AWS. The watch sees what the disk and the process promise, this one what the rules do.
"""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from attrs import define, field, frozen

from delayer.actions.rules.model import Done, Result, Retry
from delayer.history.model import occurrence_of
from delayer.http.answers import Response
from delayer.ledger.model import LedgerRow, State
from delayer.schedule.instants import MINUTE, SECOND, Millis, format_instant
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.schedule import Schedule
from tests.machine.promise import Promise
from tests.machine.watch import FINAL, Watch

A_MOMENT: Final[Millis] = 2 * SECOND  # a clock that was looked at twice, and turns that take their time
JOB: Final[Millis] = MINUTE  # in which a group is cancelled that needs to wait for nothing
PROBLEM: Final = "urn:delayer:problem:"


@frozen
class SeriesWish:
    """What its client said, and nobody has changed."""

    overlap: str
    missed: str


@define(eq=False, kw_only=True)
class Asked:
    """`is_steady`: neither the process nor the disk fails, and nobody sets the clock."""

    watch: Watch
    is_steady: bool
    clock_is_set: bool
    results: dict[str, tuple[int, Result]] = field(factory=dict)  # of the last attempt, by schedule
    redriven: set[str] = field(factory=set)
    series: dict[str, SeriesWish] = field(factory=dict)
    disturbed: set[str] = field(factory=set)  # series that somebody has paused, changed, or taken from
    names: dict[str, str] = field(factory=dict)
    pauses: list[tuple[str, Millis, Millis]] = field(factory=list)  # of series: from when until when, by true time
    groups: list[tuple[Millis, frozenset[str]]] = field(factory=list)  # cancelled when, and who of them waited
    _claimed: dict[str, set[str]] = field(factory=dict)  # occurrences, by series
    _anchor: dict[str, Millis] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.watch.rows_heard.append(self.row)
        self.watch.puts_heard.append(self.put)

    # ------------------------------------------------------------ attempts and ends

    def attempted(self, message: ExecutorMessage, result: Result) -> Result:
        """What a target has answered."""
        self.results[message.schedule.id] = (message.attempt, result)
        return result

    def row(self, old: LedgerRow | None, new: LedgerRow) -> None:
        """A commit has written it."""
        if new.state is State.SCHEDULED and old and old.ended:
            self.redriven.add(new.schedule_id)
        self._follow_series(new)
        if old and old.state is State.CLAIMED and new.state is State.CLAIMED and new.attempt == old.attempt + 1:
            self._check_delay(new)
        if new.ended and not (old and old.ended):
            self._check_end(new)

    def _check_end(self, row: LedgerRow) -> None:
        one, name = row.schedule_id, self.watch.name(row.schedule_id)
        _, result = self.results.get(one, (0, None))
        schedule = self.watch.schedules.get(one)
        match row.state:
            case State.EXECUTED if result is not None and not isinstance(result, Done):
                self.watch.fail(Promise.ONE_END, f"{name} is executed, and its target has answered {result}")
            case State.FAILED:
                if not any(one in key for key in self.watch.objects):
                    self.watch.fail(Promise.NOTHING_LOST, f"{name} has failed, and nobody has its body")
                if schedule and isinstance(result, Retry) and row.attempt - row.probes < _policy(schedule)[0]:
                    self.watch.fail(Promise.ONE_END, f"{name} is given up after {row.attempt} attempts: {row.detail}")
            case State.DROPPED if not row.stopped_at and schedule:
                last = _last_instant(schedule)
                if last is None or row.at <= last or one in self.redriven:
                    self.watch.fail(Promise.ONE_END, f"{name} is dropped, and no rule of it says so: {row.detail}")

    def _check_delay(self, row: LedgerRow) -> None:
        _, result = self.results.get(row.schedule_id, (0, None))
        schedule = self.watch.schedules.get(row.schedule_id)
        if self.clock_is_set or schedule is None or row.probes or not isinstance(result, Retry):
            return
        _, first, factor, longest = _policy(schedule)
        delay = result.after_seconds or min(first * factor ** (row.attempt - 2), longest) * 3 / 4
        if row.retry_at - row.attempted_at < delay * SECOND - A_MOMENT:
            early = f"{row.retry_at - row.attempted_at} ms after the last"
            self.watch.fail(Promise.RETRIES, f"attempt {row.attempt} of {self.watch.name(schedule.id)} is due {early}")

    def reached(self, message: ExecutorMessage) -> None:
        """What is too late by its own rule is dropped."""
        row, last = self.watch.rows.get(message.schedule.id), _last_instant(message.schedule)
        if row and last is not None and row.claimed_at > last + A_MOMENT and row.schedule_id not in self.redriven:
            late = f"{row.claimed_at - last} ms after its last instant"
            self.watch.fail(Promise.DROPPED_WHEN_LATE, f"{self.watch.name(row.schedule_id)} is claimed {late}")

    # ------------------------------------------------------------ answers

    def refused(self, response: Response, schedule_id: str) -> None:
        """A stop or a change was answered 409: the disk has said so for a while, if it is true."""
        problem = str(json.loads(response.body).get("type", "")).removeprefix(PROBLEM)
        name, since = self.watch.name(schedule_id), self.watch.claimed_at.get(schedule_id)
        row = self.watch.rows.get(schedule_id)
        is_claimed = row is not None and row.state is State.CLAIMED and since is not None
        if problem == "not-handed-over" and is_claimed and self.watch.true_time() - (since or 0) > A_MOMENT:
            self.watch.fail(Promise.STOPPED, f"{name} is claimed, and its stop is answered {problem}")
        if problem == "on-its-way" and schedule_id in self.watch.records and row is None:
            self.watch.fail(Promise.CANCEL_TRUTH, f"{name} is stored, and its change is answered {problem}")

    def name_taken(self, response: Response) -> None:
        """By whom? One that has ended has no name any more."""
        one = json.loads(response.body).get("scheduleId", "")
        row = self.watch.rows.get(one)
        if row and row.state in FINAL and row.at < self.watch.now() - A_MOMENT and not self.clock_is_set:
            self.watch.fail(Promise.ONE_NAME, f"a name is taken by {self.watch.name(one)}, which is {row.state}")

    def has_name(self, schedule_id: str, name: str) -> None:
        """A POST or PUT with a name was accepted: no other that waits has it."""
        self.names[schedule_id] = name
        for other, taken in self.names.items():
            row = self.watch.rows.get(other)
            if taken == name and other != schedule_id and other in self.watch.records and not (row and row.ended):
                both = f"{self.watch.name(schedule_id)} and {self.watch.name(other)}"
                self.watch.fail(Promise.ONE_NAME, f"{both} have one name")

    def same(self, before: Response, again: Response) -> None:
        """A call that was repeated with its key has the same answer."""
        first, second = json.loads(before.body), json.loads(again.body)
        for name in ("scheduleId", "seriesId"):
            if first.get(name) != second.get(name):
                self.watch.fail(Promise.ONE_KEY, f"a call that is repeated has another {name}: {again.body}")

    def another_body(self, response: Response) -> None:
        """The same key with something else in it."""
        if response.status != 422:
            self.watch.fail(Promise.ONE_KEY, f"another body with a known key is answered {response.status}")

    # ------------------------------------------------------------ series

    def put(self, schedule: Schedule) -> None:
        """A record came, by a commit."""
        occurrence = occurrence_of(schedule.definition)
        if not occurrence or not occurrence.number:
            return
        series, name = occurrence.series, self.watch.name(schedule.id)
        wish, time, now = self.series.get(series), occurrence.time, self.watch.now()
        anchor = self._anchor.setdefault(series, time)
        if (time - anchor) % MINUTE:
            self.watch.fail(Promise.AS_ASKED, f"{name} is an occurrence at {time - anchor} ms after another one")
        if wish is None or series in self.disturbed or schedule.point_in_time != time:
            return
        if wish.missed == "skip" and time < now - MINUTE - A_MOMENT and not self.clock_is_set:
            self.watch.fail(Promise.EACH_ONCE, f"{name} was missed {now - time} ms ago, and is made up")
        if wish.overlap != "allow" and (others := self._claimed.get(series, set()) - {schedule.id}):
            self.watch.fail(Promise.AS_ASKED, f"{name} is put while {[self.watch.name(one) for one in others]} runs")

    def _follow_series(self, row: LedgerRow) -> None:
        schedule = self.watch.schedules.get(row.schedule_id)
        occurrence = occurrence_of(schedule.definition) if schedule else None
        if occurrence and occurrence.number:
            claimed = self._claimed.setdefault(occurrence.series, set())
            if row.state is State.CLAIMED and row.schedule_id not in self.redriven:
                claimed.add(row.schedule_id)
            else:
                claimed.discard(row.schedule_id)

    # ------------------------------------------------------------ the end

    def at_the_end(self) -> None:
        """Of jobs and series."""
        for at, members in self.groups if self.is_steady else ():
            for one in members:
                if self.watch.claimed_at.get(one, 0) > at + JOB:
                    self.watch.fail(Promise.CANCEL_TRUTH, f"{self.watch.name(one)} is claimed, and its group cancelled")
        for series, since, until in () if self.clock_is_set else self.pauses:
            self._check_pause(series, since, until)
        for series, wish in self.series.items():
            if wish == SeriesWish("allow", "all") and series not in self.disturbed:
                self._check_gaps(series)

    def _check_pause(self, series: str, since: Millis, until: Millis) -> None:
        """Of its times in it, none is claimed after it."""
        begin = self.watch.now() - self.watch.true_time()
        for occurrence, schedule in self.watch.occurrences(series):
            in_it = since + A_MOMENT < occurrence.time - begin < until - A_MOMENT
            if occurrence.number and in_it and self.watch.claimed_at.get(schedule.id, 0) > until - A_MOMENT:
                self.watch.fail(Promise.EACH_ONCE, f"{self.watch.name(schedule.id)} is of a pause that was made up")

    def _check_gaps(self, series: str) -> None:
        times = sorted(occurrence.time for occurrence, _ in self.watch.occurrences(series) if occurrence.number)
        for before, after in pairwise(times):
            if after - before > MINUTE:
                self.watch.fail(Promise.NONE_MISSING, f"a series that makes up has nothing for {after - before} ms")

    def check_history(self, schedule_id: str, shown: Mapping[str, Any]) -> None:
        """It tells of each attempt, and when it was claimed."""
        row = self.watch.rows.get(schedule_id)
        if row is None or not row.ended or row.state is State.DECIDED or schedule_id in self.redriven:
            return
        schedule = self.watch.schedules.get(schedule_id)
        if schedule and shown.get("pointInTime") != format_instant(schedule.point_in_time):
            self.watch.fail(Promise.AS_ASKED, f"{self.watch.name(schedule_id)} is shown as due {shown['pointInTime']}")
        said = [one["event"] for one in shown.get("history", [])]
        name = self.watch.name(schedule_id)
        if row.claimed_at and not shown.get("claimedAt"):
            self.watch.fail(Promise.HISTORY, f"{name} is shown without its claim")
        made = row.attempt - 1 if row.state is State.EXECUTED else 0
        if said.count("attempt-failed") < made:
            self.watch.fail(Promise.HISTORY, f"{made} attempts of {name} have failed, and its history tells of {said}")


def _policy(schedule: Schedule) -> tuple[int, float, float, float]:
    """As the body says it: attempts, and their delays. Read here once more, and not by the rules."""
    retry = json.loads(schedule.definition.retry or "{}")
    backoff = retry.get("backoff", {})
    return retry.get("maxAttempts", 10), backoff.get("first", 1), backoff.get("factor", 4), backoff.get("max", 900)


def _last_instant(schedule: Schedule) -> Millis | None:
    """The stories' own rule for lateness is five seconds."""
    rule = json.loads(schedule.definition.on_late or "{}")
    return schedule.point_in_time + 5 * SECOND if rule.get("do") == "drop" else None
