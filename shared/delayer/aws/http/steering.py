"""Answers of the calls that steer a series."""

from typing import Protocol

from delayer.aws.http.problems import problem
from delayer.aws.http.responses import Response, Shown, response
from delayer.aws.http.series import created, shown_current
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import SECOND, Millis, format_instant
from delayer.core.series.backfill import Range
from delayer.core.series.series import Cursor, SeriesState


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


class Effect(Protocol):
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


def changed(effect: Effect) -> Response:
    """200, with the occurrence at which the change takes effect."""
    number, one = effect.number, effect.schedule_id
    takes_effect: Shown = shown_current(one, number, effect.point_in_time) if one else {"number": number}
    body: Shown = {"seriesId": effect.series, "state": effect.state, "takesEffectAt": takes_effect}
    return response(200, body | ({"replaces": effect.replaces} if effect.replaces else {}))


def put(effect: Effect, name: str) -> Response:
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
