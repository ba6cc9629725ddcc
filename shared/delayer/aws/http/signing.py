"""Answers of the calls on an owner's signing secret."""

from typing import Final

from delayer.aws.http.problems import problem
from delayer.aws.http.responses import Response, Shown, response
from delayer.core.schedule.instants import SECOND, Millis, format_instant
from delayer.core.signing.keys import NotRotated
from delayer.core.signing.secrets import ShownSecrets

NOT_KEPT: Final = {"Cache-Control": "no-store"}


def secrets(shown: ShownSecrets) -> Response:
    """200. Nobody between the API and the client may keep it."""
    body: Shown = {"current": shown.current, "previous": shown.previous}
    body |= {} if shown.previous_until is None else {"previousUntil": format_instant(shown.previous_until)}
    body |= {} if shown.rotated_at is None else {"rotatedAt": format_instant(shown.rotated_at)}
    return response(200, body, NOT_KEPT)


def not_rotated(error: NotRotated, now: Millis) -> Response:
    """409, with the instant from which on it may be done."""
    wait = max(-(-(error.again_at - now) // SECOND), 1)
    detail = f"Nothing was changed: {error}. The next rotation may be at {format_instant(error.again_at)}."
    return problem(409, "not-rotated", "It cannot be rotated yet", detail, {"Retry-After": str(wait)})
