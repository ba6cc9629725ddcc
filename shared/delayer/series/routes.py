"""How a series is shown, and the problems that concern series alone."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from delayer.accept.routes import shown, shown_event, shown_waiting
from delayer.accept.rules.request import KeyReused
from delayer.accept.rules.status import Status
from delayer.flow.rules.block import Waiting
from delayer.history.model import SeriesRefuses, of_last_row
from delayer.http.answers import Response, Shown, key_reused, problem, response
from delayer.ledger.model import LedgerRow, State
from delayer.masking.mask import masked
from delayer.schedule.instants import SECOND, Millis, format_instant
from delayer.schedule.schedule import to_json
from delayer.schedule.schedule_id import point_in_time_of
from delayer.series.rules.backfill import Range
from delayer.series.rules.series import Backfill, Cursor, MayStillRun, NoSeries, SeriesDefinition, SeriesState

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

Refusal = MayStillRun | SeriesRefuses | NoSeries | KeyReused


class Found(Protocol):
    """A series as it stands, and what follows from that."""

    @property
    def cursor(self) -> Cursor:
        """Where it stands."""

    @property
    def definition(self) -> SeriesDefinition:
        """The definition that its client asked for."""

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
        """Says why its current occurrence waits."""


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
        **to_json(shown_definition),
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


def _page(name: str, bodies: Sequence[Shown], cursor: str) -> Response:
    return response(200, {name: bodies, **({"nextCursor": cursor} if cursor else {})})


def times(found: Sequence[Millis], words: str, tz_version: str) -> Response:
    """200, with the next times of a rule."""
    body = {"times": [format_instant(at) for at in found], "description": words, "timeZoneDatabase": tz_version}
    return response(200, body)


def refused(refusal: Refusal, creates: str = "change") -> Response:
    """Why a series was not changed, or nothing more of it was put. `creates` is what the call would have made."""
    match refusal:
        case MayStillRun(cursor=cursor, schedules=schedules, wait=wait):
            return may_still_run(cursor, schedules, wait)
        case SeriesRefuses(reason):
            return not_possible(reason)
        case NoSeries():
            return no_series()
        case KeyReused():
            return key_reused(creates=creates)


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


def halted(cursor: Cursor, cancelled: tuple[str, ...], claimed: tuple[LedgerRow, ...], claimed_up_to: int) -> Response:
    """200, with all that may still be handed over."""
    body: Shown = {
        "seriesId": cursor.series,
        "state": cursor.state,
        "claimedUpTo": claimed_up_to,
        "cancelled": cancelled,
        "claimed": [_claimed(row) for row in claimed],
    }
    return response(200, body)


def _claimed(row: LedgerRow) -> Shown:
    body: Shown = {"scheduleId": row.schedule_id, "state": row.state}
    body |= {"claimedAt": format_instant(row.claimed_at)} if row.claimed_at else {}
    return body | ({"stop": f"/schedules/{row.schedule_id}/stop"} if row.state is State.CLAIMED else {})


def resumed(cursor: Cursor, missed: int) -> Response:
    """200, with the occurrence that waits or still runs."""
    body: Shown = {"seriesId": cursor.series, "state": cursor.state, "missed": missed}
    if cursor.current:
        body["occurrence"] = shown_current(cursor.current, cursor.number, cursor.at)
    return response(200, body)


class AnsweredEffect(Protocol):
    """At which occurrence a change takes effect."""

    @property
    def series(self) -> str:
        """Its id."""

    @property
    def state(self) -> str:
        """Of the series."""

    @property
    def number(self) -> int:
        """Of the occurrence."""

    @property
    def schedule_id(self) -> str:
        """Of the occurrence, if it was put at once."""

    @property
    def point_in_time(self) -> Millis:
        """Then, its time by the rule."""

    @property
    def replaces(self) -> str:
        """The schedule whose place it took."""


def changed(effect: AnsweredEffect) -> Response:
    """200, with the occurrence at which the change takes effect."""
    number, one = effect.number, effect.schedule_id
    takes_effect: Shown = shown_current(one, number, effect.point_in_time) if one else {"number": number}
    body: Shown = {"seriesId": effect.series, "state": effect.state, "takesEffectAt": takes_effect}
    return response(200, body | ({"replaces": effect.replaces} if effect.replaces else {}))


def put(effect: AnsweredEffect, name: str) -> Response:
    """200, or 201 if an earlier call with the same key has created the series: then the number is 0."""
    if effect.number:
        return changed(effect)
    return created(effect.series, name, effect.point_in_time, effect.schedule_id)


def run(series: str, schedule_id: str, time: Millis) -> Response:
    """201."""
    return response(201, _began(series, schedule_id, time), {"Location": f"/schedules/{schedule_id}"})


def backfill(series: str, schedule_id: str, time: Millis, asked: Range) -> Response:
    """202: its first occurrence is stored."""
    shown = {"from": format_instant(asked.since), "until": format_instant(asked.until)}
    return response(202, {**_began(series, schedule_id, time), **shown})


def _began(series: str, schedule_id: str, time: Millis) -> Shown:
    return {"seriesId": series, "scheduleId": schedule_id, "time": format_instant(time)}


def not_possible(reason: str) -> Response:
    """409."""
    return problem(409, "not-possible", "The call is not possible now", f"Nothing was changed: {reason}.")


def may_still_run(cursor: Cursor, schedules: tuple[str, ...], wait: Millis) -> Response:
    """409: an attempt from before a redrive may still succeed. A pause or a DELETE is written already."""
    done = {SeriesState.PAUSED: "The series is paused. ", SeriesState.CANCELLED: "The series is cancelled. "}
    what = "An attempt of one of its schedules may still be under way. Repeat the call after Retry-After."
    detail = done.get(cursor.state, "Nothing was changed. ") + what
    headers = {"Retry-After": str(-(-wait // SECOND))}
    known = {"seriesId": cursor.series, "state": cursor.state, "schedules": schedules}
    return problem(409, "may-be-running", "An attempt may be under way", detail, headers, **known)
