"""Points in time and durations. Without script they are in UTC; static/console.js shows the browser's own zone."""

from datetime import UTC, datetime, timedelta
from typing import Final

from markupsafe import Markup

NOTHING: Final = "0\u00a0s"
STEPS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def iso(at: datetime) -> str:
    """RFC 3339, in UTC."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(at: datetime) -> Markup:
    """Date and time."""
    return _time(at, at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"), "moment")


def stored(text: str) -> Markup | str:
    """A point in time that came as a text; what is none stays as it is."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    return moment(at) if at.tzinfo else text


def clock(at: datetime) -> Markup:
    """The time of day."""
    return _time(at, at.astimezone(UTC).strftime("%H:%M:%S UTC"), "clock")


def _time(at: datetime, text: str, how: str) -> Markup:
    return Markup('<time datetime="{}" data-as="{}">{}</time>').format(iso(at), how, text)


def ahead(at: datetime, now: datetime) -> str:
    """How far it is from now: "in 3 min", "2 h ago"."""
    span = at - now
    words = duration(abs(span))
    if words == NOTHING:
        return "now"
    return f"in {words}" if span > timedelta() else f"{words} ago"


def duration(span: timedelta) -> str:
    """Its greatest two units: "2 h 5 min"."""
    left = int(span.total_seconds())
    parts: list[tuple[int, str]] = []
    for size, unit in STEPS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append((count, unit))
    shown = [f"{count}\u00a0{unit}" for count, unit in parts[: 1 if parts and parts[0][0] >= 10 else 2] if count]
    return " ".join(shown) or NOTHING
