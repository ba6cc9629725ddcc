"""Schedules that are repeated by a rule."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from attrs import frozen

from delayer_client.api.action import AnyAction
from delayer_client.api.models import (
    OnLate,
    Retry,
    Schedule,
    Series,
    SeriesBackfill,
    SeriesChanged,
    SeriesHalted,
    SeriesPage,
    SeriesResumed,
    SeriesRun,
    Times,
)
from delayer_client.calls import series
from delayer_client.calls.schedules import NOT_GIVEN
from delayer_client.calls.series import NewSeries, PutSeries, Removed, Rule, SeriesChange
from delayer_client.calls.times import Seconds
from delayer_client.errors import NotAllowed
from delayer_client.synchronous.sending import Sender


@frozen
class SeriesCalls:
    """The series of the caller. A rule is a Repeat, or a text: a cron expression in UTC."""

    _sender: Sender

    def create(
        self,
        repeat: Rule,
        action: AnyAction,
        *,
        payload: Any = NOT_GIVEN,
        name: str | None = None,
        group: str | None = None,
        tags: Mapping[str, str] | None = None,
        overlap: Literal["allow", "skip", "queue-one"] | None = None,
        window: timedelta | Seconds | None = None,
        on_late: OnLate | None = None,
        retry: Retry | None = None,
        precision: Literal["precise", "relaxed"] | None = None,
        idempotency_key: str | None = None,
    ) -> Series:
        """Schedules an action again and again. Raises Invalid, Conflict if a live series has the name, OverQuota."""
        new = NewSeries(
            repeat=repeat,
            action=action,
            payload=payload,
            name=name,
            group=group,
            tags=tags,
            overlap=overlap,
            window=window,
            on_late=on_late,
            retry=retry,
            precision=precision,
            idempotency_key=idempotency_key,
        )
        return self._sender.send(series.create(new))

    def replace(
        self,
        name: str,
        repeat: Rule,
        action: AnyAction,
        *,
        payload: Any = NOT_GIVEN,
        group: str | None = None,
        tags: Mapping[str, str] | None = None,
        overlap: Literal["allow", "skip", "queue-one"] | None = None,
        window: timedelta | Seconds | None = None,
        on_late: OnLate | None = None,
        retry: Retry | None = None,
        precision: Literal["precise", "relaxed"] | None = None,
        only_new: bool = False,
        idempotency_key: str | None = None,
    ) -> PutSeries:
        """Creates the series with a name, or gives the live one another definition; with `only_new` it only creates."""
        new = NewSeries(
            repeat=repeat,
            action=action,
            payload=payload,
            group=group,
            tags=tags,
            overlap=overlap,
            window=window,
            on_late=on_late,
            retry=retry,
            precision=precision,
            idempotency_key=idempotency_key,
        )
        return self._sender.send(series.put(name, new, only_new=only_new))

    def get(self, series_id: str) -> Series:
        """Looks up a series. Raises NotFound."""
        return self._sender.send(series.get(series_id))

    def get_named(self, name: str) -> Series:
        """The series that has the name, or had it last. Raises NotFound."""
        return self._sender.send(series.get_named(name))

    def list(
        self, *, group: str | None = None, state: str | None = None, page_size: int | None = None
    ) -> Iterator[Series]:
        """All series, or those of a group, in the order of their groups."""
        return self._sender.items(lambda cursor: series.page(group, state, page_size, cursor), lambda page: page.series)

    def page(
        self,
        *,
        group: str | None = None,
        state: str | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
    ) -> SeriesPage:
        """One page of `list`. `cursor` is the `next_cursor` of the page before; without it, the first."""
        return self._sender.send(series.page(group, state, page_size, cursor))

    def preview(self, repeat: Rule, count: int | None = None) -> Times:
        """The next times of a rule, 10 if not said otherwise. Nothing is stored. Raises Invalid."""
        return self._sender.send(series.preview(repeat, count))

    def next(self, series_id: str, count: int | None = None) -> Times:
        """The next times of a series by its rule. Raises NotFound."""
        return self._sender.send(series.following(series_id, count))

    def occurrences(
        self, series_id: str, *, state: str | None = None, page_size: int | None = None
    ) -> Iterator[Schedule]:
        """Its occurrences, the latest first. Raises NotFound, Conflict without a journal."""
        return self._sender.items(
            lambda cursor: series.occurrences(series_id, state, page_size, cursor), lambda page: page.occurrences
        )

    def change(
        self,
        series_id: str,
        *,
        repeat: Rule | None = None,
        action: AnyAction | None = None,
        payload: Any = NOT_GIVEN,
        overlap: Literal["allow", "skip", "queue-one"] | None = None,
        tags: Mapping[str, str] | Removed | None = None,
        window: timedelta | Seconds | Removed | None = None,
        on_late: OnLate | Removed | None = None,
        retry: Retry | Removed | None = None,
        precision: Literal["precise", "relaxed"] | None = None,
        idempotency_key: str | None = None,
    ) -> SeriesChanged:
        """Another rule, payload or action. What is not given stays; REMOVED takes a window and the like away."""
        what = SeriesChange(
            repeat=repeat,
            action=action,
            payload=payload,
            overlap=overlap,
            tags=tags,
            window=window,
            on_late=on_late,
            retry=retry,
            precision=precision,
            idempotency_key=idempotency_key,
        )
        return self._sender.send(series.change(series_id, what))

    def cancel(self, series_id: str) -> SeriesHalted:
        """Nothing of it is handed over any more, but what the answer names in `claimed`. Raises NotFound, Conflict."""
        return self._sender.send(series.cancel(series_id))

    def cancel_named(self, name: str) -> SeriesHalted:
        """As `cancel`, of the series that has the name: its id is looked up, so that a repeat cannot meet a namesake.

        A caller that may not look it up cancels by the name, which is not repeated after a lost answer.
        """
        try:
            found = self.get_named(name)
        except NotAllowed:
            return self._sender.send(series.cancel_named(name))
        return self.cancel(found.id)

    def pause(self, series_id: str) -> SeriesHalted:
        """As `cancel`, but it can be resumed. It is not repeated after a lost answer: `get` shows its state then."""
        return self._sender.send(series.pause(series_id))

    def resume(self, series_id: str) -> SeriesResumed:
        """Goes on with the first time that is still to come. Not repeated after a lost answer, as `pause`."""
        return self._sender.send(series.resume(series_id))

    def run_now(self, series_id: str, *, idempotency_key: str | None = None) -> SeriesRun:
        """One occurrence that is due at once, beside the current one. Raises Conflict while it is paused."""
        return self._sender.send(series.run_now(series_id, idempotency_key))

    def backfill(
        self,
        series_id: str,
        since: datetime | str,
        until: datetime | str,
        *,
        idempotency_key: str | None = None,
    ) -> SeriesBackfill:
        """An occurrence for each time of the rule in a range of the past, one after the other."""
        return self._sender.send(series.backfill(series_id, since, until, idempotency_key))
