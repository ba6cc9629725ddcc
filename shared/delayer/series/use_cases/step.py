"""Steps a series: puts its next occurrence after something happened to the current one (ADR 0094, 0181)."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from attrs import define, evolve, frozen

from delayer.accept.rules.window import within
from delayer.accept.use_cases.issue import Ids
from delayer.engines.ports import Clock, Observer, Parallel, ReceivedMessage, Unavailable
from delayer.history import cloud_events
from delayer.history.model import Occurrence, definition_for
from delayer.schedule.instants import Malformed, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind
from delayer.series.ports import Filed, SeriesKey, SeriesRows, SeriesTable, SeriesTransaction
from delayer.series.rules.backfill import Fill, Filled, any_stepped, decide_any_step
from delayer.series.rules.series import OVER, Rule, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import Happened, NoStep, Over, ReadAgain, Step
from delayer.series.use_cases.stored import Retention

ROUNDS: Final = 10  # the row changes under a step only if its owner changes the series at the same time


def is_done(do: Callable[[], object], observer: Observer, schedule_id: str = "", series: str = "") -> bool:
    """Whether it did not raise. The text of a defect is not logged: it may hold what a client sent."""
    try:
        do()
    except Unavailable as error:
        observer.warn("a series waits", schedule_id, series=series, error=str(error))
        return False
    except Exception as error:  # noqa: BLE001 - see above
        where = traceback.format_tb(error.__traceback__)
        observer.warn("a series waits", schedule_id, series=series, error=type(error).__name__, where=where)
        return False
    return True


@define(kw_only=True)
class KnownSeries:
    """One series, of which some events are handled in turn.

    `rows` is what was read of it, or what this environment has written since. None: it must be read again.
    """

    key: SeriesKey
    rows: SeriesRows | Unavailable | None


@frozen(kw_only=True)
class StepSeries:
    """One thing that happened. It is safe to repeat it: only what is the current occurrence now is a reason to step."""

    clock: Clock
    series: SeriesTable
    ids: Ids
    rule_of: Callable[[SeriesDefinition], Rule]
    retention: Retention
    observer: Observer

    def __call__(self, happened: Happened) -> None:
        """Of one occurrence. Raises Unavailable: then it must come again."""
        self.step(self.known([happened])[happened.schedule_id], happened)

    def known(self, happened: Sequence[Happened]) -> Mapping[str, KnownSeries | Unavailable | None]:
        """For each occurrence its series, which may be the same; None: it is not current. It takes two reads.

        A read from before an event could miss the occurrence that it tells of. So both reads come after all of the
        events, and are strongly consistent.
        """
        ids = list(dict.fromkeys(one.schedule_id for one in happened))
        filed = self.series.filed_all(ids)
        keys = dict.fromkeys(one.key for one in filed.values() if isinstance(one, Filed))
        rows = self.series.both(list(keys)) if keys else {}
        series = {key: KnownSeries(key=key, rows=found) for key, found in rows.items()}
        return {one: series[found.key] if isinstance(found := filed.get(one), Filed) else found for one in ids}

    def step(self, series: KnownSeries | Unavailable | None, happened: Happened) -> None:
        """Of an occurrence whose series is known. Raises Unavailable: then it must come again.

        After a write the next event goes by what was written: what was read before it is old. After an error nothing is
        known any more. The condition of each write has the last word.
        """
        if isinstance(series, Unavailable):
            raise series
        if series is None:
            self.observer.note("no step: it is not current", happened.schedule_id, kind=happened.kind)
            return
        for _ in range(ROUNDS):
            rows = series.rows or self.series.both([series.key])[series.key]
            if isinstance(rows, Unavailable):
                raise rows
            series.rows = None
            series.rows = self.settled(series.key.series, rows, happened)
            if series.rows:
                return
        raise Unavailable("others change the series all the time")

    def settled(self, series: str, rows: SeriesRows, happened: Happened) -> SeriesRows | None:
        """The rows as they are now; None if the series has changed meanwhile: it must be read again."""
        cursor, definition = rows.cursor, rows.definition
        if cursor is None or definition is None:
            if cursor and cursor.state not in OVER:  # no TTL removes it: it is damage, and must not stay unseen
                raise Unavailable("a series without its definition")
            self.observer.warn("a current occurrence without its series", happened.schedule_id, series=series)
            return rows
        decision = decide_any_step(cursor, definition, self.rule_of(definition), happened, self.clock.now())
        match decision:
            case ReadAgain():
                return None
            case NoStep(reason):
                self.observer.note("no step", happened.schedule_id, series=series, reason=reason)
                return rows
        put = self._issued(decision, series, definition)
        change = any_stepped(cursor, decision, put.id if put else "")
        transaction = self.retention.transaction(change, definition)
        if not self.series.write(evolve(transaction, put=(put,) if put else ())):
            return None
        self._report(decision, series, happened)
        tell_if_failed(self.observer, transaction, happened.schedule_id)
        return SeriesRows(cursor=transaction.cursor, definition=definition)

    def _issued(
        self, decision: Step | Over | Fill | Filled, series: str, definition: SeriesDefinition
    ) -> Schedule | None:
        if isinstance(decision, Step):
            return occurrence(self.ids, definition, series, decision.number, decision.at, decision.at)
        if isinstance(decision, Fill):
            return occurrence(self.ids, definition, series, 0, decision.at, self.clock.now())
        return None

    def _report(self, decision: Step | Over | Fill | Filled, series: str, happened: Happened) -> None:
        if isinstance(decision, Step):
            self.observer.count("SeriesStepped")
            self.observer.note("stepped", happened.schedule_id, series=series, number=decision.number, at=decision.at)
        elif isinstance(decision, Fill):
            self.observer.note("backfilled", happened.schedule_id, series=series, at=decision.at, left=decision.left)
        elif isinstance(decision, Filled):
            self.observer.note("backfill is over", happened.schedule_id, series=series)
        else:
            self.observer.note("nothing more to put", happened.schedule_id, series=series, state=decision.state)


def tell_if_failed(observer: Observer, written: SeriesTransaction, schedule_id: str = "") -> None:
    """Of each write that stops a series: an alarm rings. One that had failed before has told so."""
    had_failed = written.over is not None and written.over.state is SeriesState.FAILED
    if written.cursor.state is SeriesState.FAILED and not had_failed:
        observer.count("SeriesFailed")
        observer.warn("its rule failed: the series stops", schedule_id, series=written.cursor.series)


def occurrence(
    ids: Ids, definition: SeriesDefinition, series: str, number: int, time: Millis, point_in_time: Millis
) -> Schedule:
    """A new occurrence, not stored yet, due at `point_in_time`. `time` is what the rule says. Raises Unavailable.

    With a window it is due within it, at the same place as all of its series. What has no number, a run-now or a
    backfill, is due at once: it is in no window, and in the precise lane.
    """
    put = definition_for(definition.definition, Occurrence(series=series, number=number, time=time))
    if not number:
        return ids.issue_for(
            point_in_time, evolve(put, window=""), definition.owner, definition.traits, IdKind.OCCURRENCE
        )
    due, put = within(put, point_in_time, series.encode())
    return ids.issue_for(due, put, definition.owner, definition.traits, definition.kind)


@frozen(kw_only=True)
class ReactToEvents:
    """One batch of the series queue."""

    step_series: StepSeries
    parallel: Parallel
    observer: Observer

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages to be delivered again.

        A claim and an end often come together, or the ends of an occurrence and of a backfill. Side by side they would
        write the same cursor, and DynamoDB bills the one that loses, too. Hence those of one series follow each other.
        """
        read = ((received.message_id, self._event_in(received)) for received in batch)
        events = {message_id: event for message_id, event in read if event}
        known = self.step_series.known(list(events.values()))
        in_turn: dict[SeriesKey | str, dict[str, Happened]] = {}
        for message_id, event in events.items():
            series = known[event.schedule_id]
            turn = series.key if isinstance(series, KnownSeries) else event.schedule_id
            in_turn.setdefault(turn, {})[message_id] = event

        def stepped(of_one: Mapping[str, Happened]) -> list[str]:
            """The messages about one series that are settled."""
            return [
                message_id
                for message_id, one in of_one.items()
                if is_done(partial(self.step_series.step, known[one.schedule_id], one), self.observer, one.schedule_id)
            ]

        settled = {one for done in self.parallel.map(stepped, in_turn.values()) for one in done}
        return [received.message_id for received in batch if received.message_id not in settled]

    def _event_in(self, received: ReceivedMessage) -> Happened | None:
        """An event that cannot be read waits: the next release may read it. Meanwhile the net steps the series."""
        try:
            event = cloud_events.decode(received.body)
        except Malformed as error:
            self.observer.warn("a lifecycle event that cannot be read", problem=error.reason)
            return None
        return Happened(schedule_id=event.schedule_id, kind=event.type)
