"""A call that has no body: what somebody sends nevertheless is refused, as it would be ignored."""

from itertools import islice
from typing import Final

from delayer.core.api.json_body import fields_of
from delayer.core.api.problem import FieldError, Invalid, NotJson

MAX_BYTES: Final = 262_144  # of what is looked at
MAX_ERRORS: Final = 50
MAX_SHOWN: Final = 80  # characters of a made-up name
ALLOWED: Final = "no body, or an empty object"


def admit_no_body(body: bytes) -> None:
    """`{}` is none, too: many clients send it with each POST. Raises Invalid."""
    if not body.strip():
        return
    names = _names(body)
    if names is None:
        raise Invalid([FieldError(field="", problem="the call has no body", allowed=ALLOWED)])
    if names:
        raise Invalid(FieldError(field=one[:MAX_SHOWN], problem="unknown field", allowed=ALLOWED) for one in names)


def _names(body: bytes) -> list[str] | None:
    """Of its fields, if it is an object."""
    if len(body) > MAX_BYTES:
        return None
    try:
        return [*islice(fields_of(body), MAX_ERRORS)]
    except NotJson:
        return None
