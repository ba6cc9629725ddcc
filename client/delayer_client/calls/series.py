"""The calls about series."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from attrs import frozen

from delayer_client.api.action import AnyAction, plain
from delayer_client.api.models import (
    OccurrencePage,
    OnLate,
    Repeat,
    Retry,
    Series,
    SeriesBackfill,
    SeriesChanged,
    SeriesHalted,
    SeriesPage,
    SeriesResumed,
    SeriesRun,
    Times,
)
from delayer_client.calls.call import Answer, Call, a, given, path
from delayer_client.calls.call import Repeat as Repeating
from delayer_client.calls.schedules import NOT_GIVEN, key_header, whole, with_payload
from delayer_client.calls.times import Seconds, instant
from delayer_client.errors import WrongArgument

Rule = Repeat | str  # a text is a cron expression


class Removed:
    """Stands for a field that a change takes away."""

    def __repr__(self) -> str:
        return "removed"


REMOVED = Removed()


@frozen(kw_only=True)
class NewSeries:
    """A series to be made: what is done, and by which rule it is repeated."""

    repeat: Rule
    action: AnyAction
    payload: Any = NOT_GIVEN
    name: str | None = None
    group: str | None = None
    tags: Mapping[str, str] | None = None
    overlap: Literal["allow", "skip", "queue-one"] | None = None
    window: timedelta | Seconds | None = None
    on_late: OnLate | None = None
    retry: Retry | None = None
    precision: Literal["precise", "relaxed"] | None = None
    idempotency_key: str | None = None

    def body(self) -> dict[str, Any]:
        """As the API takes it."""
        return given(
            repeat=rule(self.repeat),
            action=plain(self.action),
            name=self.name,
            group=self.group,
            tags=self.tags,
            overlap=self.overlap,
            window=None if self.window is None else {"seconds": whole(self.window)},
            onLate=plain(self.on_late),
            retry=plain(self.retry),
            precision=self.precision,
        ) | with_payload(self.payload)


@frozen(kw_only=True)
class SeriesChange:
    """The fields that are to change. A field that is not given stays; REMOVED takes away a rule for lateness, a
    retry, a window, tags.
    """

    repeat: Rule | None = None
    action: AnyAction | None = None
    payload: Any = NOT_GIVEN
    overlap: Literal["allow", "skip", "queue-one"] | None = None
    tags: Mapping[str, str] | Removed | None = None
    window: timedelta | Seconds | Removed | None = None
    on_late: OnLate | Removed | None = None
    retry: Retry | Removed | None = None
    precision: Literal["precise", "relaxed"] | None = None
    idempotency_key: str | None = None

    def body(self) -> dict[str, Any]:
        """As the API takes it. Raises WrongArgument."""
        body = given(
            repeat=None if self.repeat is None else rule(self.repeat),
            action=plain(self.action),
            overlap=self.overlap,
            tags={} if self.tags is REMOVED else self.tags,
            retry={} if self.retry is REMOVED else plain(self.retry),
            onLate=None if self.on_late is REMOVED else plain(self.on_late),
            precision=self.precision,
        ) | with_payload(self.payload)
        if self.on_late is REMOVED:
            body["onLate"] = None
        if isinstance(self.window, Removed):
            body["window"] = None
        elif self.window is not None:
            body["window"] = {"seconds": whole(self.window)}
        if not body:
            raise WrongArgument("Give what is to change.")
        return body


def rule(repeat: Rule) -> dict[str, Any]:
    """As the API takes it."""
    return {"cron": repeat} if isinstance(repeat, str) else repeat.as_json()


@frozen(kw_only=True)
class PutSeries:
    """The result of a PUT by name: it `created` a new series, or `changed` the live one of that name."""

    created: Series | None = None
    changed: SeriesChanged | None = None

    @property
    def id(self) -> str:
        """Of the series."""
        one = self.created.id if self.created else self.changed.series_id if self.changed else None
        assert one
        return one


def create(new: NewSeries) -> Call[Series]:
    """POST /series."""
    return Call(
        method="POST",
        path="/series",
        body=new.body(),
        headers=key_header(new.idempotency_key),
        repeat=Repeating.WITH_KEY,
        read=a(Series),
    )


def put(name: str, new: NewSeries, *, only_new: bool) -> Call[PutSeries]:
    """PUT /series/by-name/{name}."""
    return Call(
        method="PUT",
        path=path("series", "by-name", name),
        body=new.body(),
        headers=key_header(new.idempotency_key) | ({"If-None-Match": "*"} if only_new else {}),
        repeat=Repeating.WITH_KEY,
        read=_put,
    )


def _put(answer: Answer) -> PutSeries:
    if answer.status == 201:
        return PutSeries(created=a(Series)(answer))
    return PutSeries(changed=a(SeriesChanged)(answer))


def get(series_id: str) -> Call[Series]:
    """GET /series/{seriesId}."""
    return Call(method="GET", path=path("series", series_id), read=a(Series))


def get_named(name: str) -> Call[Series]:
    """GET /series/by-name/{name}."""
    return Call(method="GET", path=path("series", "by-name", name), read=a(Series))


def page(group: str | None, state: str | None, limit: int | None, cursor: str | None) -> Call[SeriesPage]:
    """GET /series."""
    query = given(group=group, state=state, limit=None if limit is None else str(limit), cursor=cursor)
    return Call(method="GET", path="/series", query=query, read=a(SeriesPage))


def preview(repeat: Rule, count: int | None) -> Call[Times]:
    """POST /series/preview."""
    return Call(method="POST", path="/series/preview", body=given(repeat=rule(repeat), count=count), read=a(Times))


def following(series_id: str, count: int | None) -> Call[Times]:
    """GET /series/{seriesId}/next."""
    query = given(count=None if count is None else str(count))
    return Call(method="GET", path=path("series", series_id, "next"), query=query, read=a(Times))


def occurrences(series_id: str, state: str | None, limit: int | None, cursor: str | None) -> Call[OccurrencePage]:
    """GET /series/{seriesId}/occurrences."""
    query = given(state=state, limit=None if limit is None else str(limit), cursor=cursor)
    return Call(method="GET", path=path("series", series_id, "occurrences"), query=query, read=a(OccurrencePage))


def change(series_id: str, what: SeriesChange) -> Call[SeriesChanged]:
    """PATCH /series/{seriesId}."""
    return Call(
        method="PATCH",
        path=path("series", series_id),
        body=what.body(),
        headers=key_header(what.idempotency_key),
        repeat=Repeating.WITH_KEY,
        read=a(SeriesChanged),
    )


def cancel(series_id: str) -> Call[SeriesHalted]:
    """DELETE /series/{seriesId}. A repeat is harmless: nobody can undo it."""
    return Call(method="DELETE", path=path("series", series_id), read=a(SeriesHalted))


def cancel_named(name: str) -> Call[SeriesHalted]:
    """DELETE /series/by-name/{name}. It is not repeated: somebody may have given the name to another one since."""
    return Call(method="DELETE", path=path("series", "by-name", name), repeat=Repeating.NEVER, read=a(SeriesHalted))


def pause(series_id: str) -> Call[SeriesHalted]:
    """POST /series/{seriesId}/pause. It is not repeated: somebody may have resumed it since."""
    return Call(method="POST", path=path("series", series_id, "pause"), repeat=Repeating.NEVER, read=a(SeriesHalted))


def resume(series_id: str) -> Call[SeriesResumed]:
    """POST /series/{seriesId}/resume. It is not repeated: somebody may have paused it since."""
    return Call(method="POST", path=path("series", series_id, "resume"), repeat=Repeating.NEVER, read=a(SeriesResumed))


def run_now(series_id: str, key: str | None) -> Call[SeriesRun]:
    """POST /series/{seriesId}/run-now."""
    return Call(
        method="POST",
        path=path("series", series_id, "run-now"),
        headers=key_header(key),
        repeat=Repeating.WITH_KEY,
        read=a(SeriesRun),
    )


def backfill(series_id: str, since: datetime | str, until: datetime | str, key: str | None) -> Call[SeriesBackfill]:
    """POST /series/{seriesId}/backfill."""
    return Call(
        method="POST",
        path=path("series", series_id, "backfill"),
        body={"from": instant(since, "since"), "until": instant(until, "until")},
        headers=key_header(key),
        repeat=Repeating.WITH_KEY,
        read=a(SeriesBackfill),
    )
