"""The body of a rotation: how long the secret before signs, too."""

from typing import Final

from delayer.core.api.field_errors import ROTATION, errors_of, first_errors
from delayer.core.api.json_body import fields_of, parse
from delayer.core.api.problem import Invalid, TooLarge
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.signing.rotation import OVERLAP

MAX_BYTES: Final = 1_024


def admit_rotation(body: bytes) -> Millis:
    """The overlap. No body asks for the usual one. Raises TooLarge, NotJson, Invalid."""
    if not body.strip():
        return OVERLAP
    if len(body) > MAX_BYTES:
        raise TooLarge(f"The body of a rotation has at most {MAX_BYTES:,} bytes; this one has {len(body):,}.")
    document = {name: parse(value) for name, value in fields_of(body).items()}
    if errors := first_errors(errors_of(ROTATION, document)):
        raise Invalid(errors)
    return int(document["overlapSeconds"]) * SECOND if "overlapSeconds" in document else OVERLAP
