"""Answers of the calls on an owner's signing secret."""

from typing import Final

from delayer.http.answers import Response, Shown, problem, response
from delayer.http.field_errors import ROTATION, errors_of, first_errors
from delayer.http.json_body import fields_of
from delayer.http.problem import Invalid, TooLarge
from delayer.schedule.instants import SECOND, Millis, format_instant
from delayer.signing.rules import OVERLAP, NotRotated, ShownSecrets

MAX_BYTES: Final = 1_024
NOT_KEPT: Final = {"Cache-Control": "no-store"}


def admit_rotation(body: bytes) -> Millis:
    """The overlap. No body asks for the usual one. Raises TooLarge, NotJson, Invalid."""
    if not body.strip():
        return OVERLAP
    if len(body) > MAX_BYTES:
        raise TooLarge(f"The body of a rotation has at most {MAX_BYTES:,} bytes; this one has {len(body):,}.")
    document = fields_of(body).values
    if errors := first_errors(errors_of(ROTATION, document)):
        raise Invalid(errors)
    return int(document["overlapSeconds"]) * SECOND if "overlapSeconds" in document else OVERLAP


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
