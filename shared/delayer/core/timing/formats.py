"""What a text in the fields of a policy may have to be, beyond what a pattern can say: checked before it is accepted.

A field names it as `format`. In the schemas of actions a format is a remark, as JSON Schema has it.
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Final

from attrs import frozen

from delayer.core.recurrence.zones import ALLOWED, zone_names
from delayer.core.timing.business_hours import hours_of


@frozen(kw_only=True)
class Format:
    """One that a field can name."""

    holds: Callable[[str], bool]
    allowed: str  # in words, for the answers of the API


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_hours(text: str) -> bool:
    try:
        hours_of(text)
    except ValueError:
        return False
    return True


FORMATS: Final[Mapping[str, Format]] = {
    "date": Format(holds=_is_date, allowed="a date that there is, such as 2026-12-25"),
    "hours": Format(holds=_is_hours, allowed="from-to within a day, such as 09:00-17:30"),
    "time-zone": Format(holds=lambda text: text in zone_names(), allowed=ALLOWED),
}
