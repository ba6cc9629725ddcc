"""How a series is shown, and the problems that concern series alone."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from delayer.aws.http.problems import problem
from delayer.aws.http.responses import Response, Shown, response
from delayer.aws.http.schedules import shown, shown_event, shown_waiting
from delayer.core.api.status import Status
from delayer.core.flow.waiting import Waiting
from delayer.core.history.events import of_last_row
from delayer.core.masking.mask import masked
from delayer.core.schedule import definition as definitions
from delayer.core.schedule.instants import Millis, format_instant
from delayer.core.schedule.schedule_id import point_in_time_of
from delayer.core.series.series import Backfill, Cursor, SeriesDefinition, SeriesState


class Found(Protocol):
    """A series as it stands, and what follows from that."""

    @property
    def cursor(self) -> Cursor:
        """Where it stands."""

    @property
    def definition(self) -> SeriesDefinition:
        """What its client asked for."""

    @property
    def next_at(self) -> Millis:
        """Its next time; 0 for none."""

    @property
    def words(self) -> str:
        """Its rule in English."""

    @property
    def tz_version(self) -> str:
        """The release of the tz database."""

    @property
    def waiting(self) -> Waiting | None:
        """What keeps back its current occurrence."""


def created(series: str, name: str, at: Millis, occurrence: str) -> Response:
    """201, with its first occurrence if that is not too far ahead."""
    body: Shown = {
        "seriesId": series,
        "state": SeriesState.ACTIVE if occurrence else SeriesState.WAITING,
        **({"name": name} if name else {}),
        "next": format_instant(at),
        **({"occurrence": shown_current(occurrence, 1, at)} if occurrence else {}),
    }
    return response(201, body, {"Location": f"/series/{series}"})


def shown_current(schedule_id: str, number: int, at: Millis) -> Shown:
    """The current occurrence of a series."""
    return {
        "scheduleId": schedule_id,
        "number": number,
        "time": format_instant(at),
        "pointInTime": format_instant(point_in_time_of(schedule_id)),
    }


def _shown_current_of(found: Found) -> Shown:
    cursor, waiting = found.cursor, found.waiting
    shown_one = shown_current(cursor.current, cursor.number, cursor.at)
    return {**shown_one, **({"waiting": shown_waiting(waiting)} if waiting else {})}


def shown_series(found: Found) -> Shown:
    """A series, with its secrets masked."""
    cursor, stored = found.cursor, found.definition
    shown_definition = masked(stored.definition, stored.traits.secrets)
    return {
        "seriesId": cursor.series,
        "state": cursor.state,
        **({"name": stored.name} if stored.name else {}),
        **({"next": format_instant(found.next_at)} if found.next_at else {}),
        **({"occurrence": _shown_current_of(found)} if cursor.current else {}),
        **({"beside": cursor.beside} if cursor.beside else {}),
        **({"backfill": _backfill(cursor.backfill)} if cursor.backfill else {}),
        "repeat": msgspec.Raw(stored.repeat.encode()),
        **({"description": found.words} if found.words else {}),
        "timeZoneDatabase": found.tz_version,
        "overlap": stored.overlap,
        **({"precision": "relaxed"} if stored.is_relaxed else {}),
        "createdAt": format_instant(stored.created_at),
        **({"expiresAt": format_instant(cursor.expires_at)} if cursor.expires_at else {}),
        **definitions.to_json(shown_definition),
        **({"masked": True} if shown_definition is not stored.definition else {}),
    }


def _backfill(backfill: Backfill) -> Shown:
    """How far it has come."""
    return {
        "from": format_instant(backfill.since),
        "until": format_instant(backfill.until),
        "scheduleId": backfill.current,
        "time": format_instant(backfill.at),
    }


def page(series: Sequence[Found], cursor: str) -> Response:
    """200, with the cursor of the next page if there is one."""
    return _page("series", [shown_series(one) for one in series], cursor)


def occurrences(series: str, listed: Sequence[tuple[Status, int, Millis]], cursor: str) -> Response:
    """200: each with its number and its time by the rule."""
    bodies = [_shown_occurrence(series, *one) for one in listed]
    return _page("occurrences", bodies, cursor)


def _shown_occurrence(series: str, status: Status, number: int, at: Millis) -> Shown:
    """Not its definition, which is that of the series, nor its history, which a lookup by its id shows."""
    body = shown(status) | _remembered(status)
    left = {name: value for name, value in body.items() if name in OF_AN_OCCURRENCE}
    return {**left, "series": {"seriesId": series, "number": number, "time": format_instant(at)}}


def _remembered(status: Status) -> Shown:
    """Of one whose row has expired: the last that its history says."""
    last = of_last_row([event for event in status.history if event.revision])
    return shown_event(last) if last and status.row is None else {}


OF_AN_OCCURRENCE = frozenset(
    {
        "scheduleId",
        "pointInTime",
        "state",
        "overdue",
        "since",
        "claimedAt",
        "attempt",
        "probes",
        "latenessMs",
        "nextAttemptAt",
        "detail",
        "stoppedAt",
        "replacedBy",
        "target",
        "tags",
    }
)


def _page(name: str, bodies: Sequence[Shown], cursor: str) -> Response:
    return response(200, {name: bodies, **({"nextCursor": cursor} if cursor else {})})


def times(found: Sequence[Millis], words: str, tz_version: str) -> Response:
    """200, with the next times of a rule."""
    body = {"times": [format_instant(at) for at in found], "description": words, "timeZoneDatabase": tz_version}
    return response(200, body)


def no_series() -> Response:
    """404: never created here, forgotten, or another's; the response does not say which."""
    return problem(
        404,
        "not-found",
        "No such series",
        "There is no series with the id after /series/, or the name after /series/by-name/.",
    )


def series_name_taken(series: str) -> Response:
    """409."""
    detail = "A live series has this name. PUT replaces it."
    return problem(409, "name-taken", "The name is taken", detail, seriesId=series)


def series_name_exists(series: str) -> Response:
    """412, for `If-None-Match: *`."""
    detail = "A live series has this name, and the call asked to create only."
    return problem(412, "name-taken", "The name is taken", detail, seriesId=series)


def no_lifecycle() -> Response:
    """409."""
    detail = (
        "A series is stepped by lifecycle events, and this stack has Lifecycle=off. Its operators can deploy it with "
        "Lifecycle=events or Lifecycle=journal."
    )
    return problem(409, "no-lifecycle", "This stack cannot step a series", detail)


def no_journal() -> Response:
    """409."""
    detail = (
        "Which occurrences there were is in the journal, and this stack has none. GET of a series names the current."
    )
    return problem(409, "no-journal", "This stack has no journal", detail)
