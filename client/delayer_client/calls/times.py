"""Points in time and durations, as the API takes them."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parsedate_to_datetime
from typing import Final

from delayer_client.errors import WrongArgument

Seconds = float
_NO_OFFSET: Final = re.compile(r"[+-]\d\d:?[6-9]\d")


def instant(at: datetime | str, name: str = "at") -> str:
    """An instant in RFC 3339. A text is passed on as it is. Raises WrongArgument for a time without a zone."""
    if isinstance(at, str):
        return at
    if not isinstance(at, datetime):
        raise WrongArgument(f"{name} is a datetime with a time zone, or a text in RFC 3339; not {at!r}.")
    if at.utcoffset() is None:
        raise WrongArgument(
            f"{name} has no time zone. Give it one: datetime(…, tzinfo=ZoneInfo('Europe/Lisbon')) or datetime.now(UTC)."
        )
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def iso_instant(text: str) -> datetime:
    """ISO 8601 in any form that Python reads, but for an offset of more than 59 minutes. Raises ValueError."""
    found = datetime.fromisoformat(text)
    if found.tzinfo and _NO_OFFSET.fullmatch(text[text.rfind("+" if "+" in text else "-") :]):
        raise ValueError("its offset has more than 59 minutes")
    return found


def http_date(text: str) -> datetime:
    """Of a header. In the form of asctime it names no zone, and is GMT all the same. Raises ValueError."""
    found = parsedate_to_datetime(text)
    return found.replace(tzinfo=found.tzinfo or UTC)


def shown_by(wall: datetime, zone: tzinfo) -> datetime:
    """When the clocks of a zone show this, in UTC: the first of two times, and of none the end of the gap.

    `wall` has no zone. The end of the gap is when the clocks are put forward: so the API has it, too.
    """
    early, late = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if early <= late:
        return early
    before, after = late, early  # in a gap, each is reckoned with the offset of the other side
    offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        before, after = (middle, after) if middle.astimezone(zone).utcoffset() == offset else (before, middle)
    return after


def seconds(delay: timedelta | Seconds) -> Seconds:
    """A duration in seconds."""
    return delay.total_seconds() if isinstance(delay, timedelta) else delay


def iso_duration(after: timedelta | str) -> str:
    """A duration in ISO 8601, with whole seconds. Raises WrongArgument for fractions."""
    if isinstance(after, str):
        return after
    whole, fraction = divmod(after, timedelta(seconds=1))
    if fraction or whole < 0:
        raise WrongArgument("This duration has to be a number of whole seconds, 0 or more.")
    return f"PT{whole}S"
