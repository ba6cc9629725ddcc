"""Points in time, as a person writes them: `tomorrow 09:00`, `2026-12-24 18:00 Europe/Lisbon`, RFC 3339."""

import re
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from attrs import frozen

from delayer_client.calls.times import iso_instant, shown_by
from delayer_client.cli.reading.durations import NotRead, duration
from delayer_client.cli.reading.zones import name_of, zone

ALLOWED: Final = (
    "like 'tomorrow 09:00', 'monday 8:00', '18:30', '2026-12-24 18:00 Europe/Lisbon', 2026-12-24T18:00:00Z, or 'in 10m'"
)
DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CLOCK: Final = re.compile(r"(\d{1,2})(?::(\d{2})(?::(\d{2})(\.\d{1,6})?)?)?\s*([ap]m)?", re.IGNORECASE)


@frozen
class Moment:
    """An instant. `note` says what was chosen where a change of the clocks leaves a choice."""

    at: datetime  # with its zone
    note: str = ""
    left_out: datetime | None = None  # what was written, if the clocks leave it out: a rule keeps it


def moment(text: str, now: datetime, default_zone: tzinfo) -> Moment:
    """The instant that a text names; a time without a date is the next such time. Raises NotRead."""
    words = text.strip()
    if words.lower() == "now":
        return Moment(now)
    try:
        if words.lower().startswith("in "):
            return Moment((now + duration(words[3:])).astimezone(default_zone))
        return _with_offset(words) or _by_the_clock(words, now, default_zone)
    except OverflowError:
        raise NotRead(f"{text!r} is beyond the year 9999.") from None


def _with_offset(words: str) -> Moment | None:
    """RFC 3339, or ISO 8601 with an offset; a blank may stand for the T."""
    parts = words.split()
    joined = "".join(parts) if len(parts) == 1 else "T".join(parts[:2]) + "".join(parts[2:])
    try:
        found = iso_instant(joined.upper().replace("UTC+", "+").replace("UTC-", "-"))
    except ValueError:
        return None
    return Moment(found) if found.tzinfo else None


def _by_the_clock(words: str, now: datetime, default_zone: tzinfo) -> Moment:
    wanted, there = _zone_at_end(words.replace("T", " ", 1) if re.match(r"\d{4}-\d\d-\d\dT", words) else words)
    there = there or default_zone
    today = now.astimezone(there)
    parts = wanted.lower().removeprefix("next ").replace(" at ", " ").split(None, 1)
    if not parts:
        raise _not_read(words)
    day, weekly = _day(parts[0], today.date())
    at = _clock(parts[1] if len(parts) > 1 else "0:00", words) if day else _clock(" ".join(parts), words)
    found = local(datetime.combine(day or today.date(), at), there)
    if (weekly or not day) and found.at <= now:
        found = local(datetime.combine((day or today.date()) + timedelta(days=7 if weekly else 1), at), there)
    return found


def _zone_at_end(words: str) -> tuple[str, tzinfo | None]:
    """Splits off the zone at the end: the last word that begins with a letter and is no day."""
    before, _, last = words.rpartition(" ")
    last = last.strip()
    is_name = last[:1].isalpha() and not _day_name(last.lower()) and last.lower() not in ("am", "pm")
    if not before or not is_name or last.lower() in ("today", "tomorrow"):
        return words, None
    return before.strip(), zone(last)


def _day_name(word: str) -> str:
    """`mon`, `thurs` and `monday` are days."""
    return next((day for day in DAYS if len(word) >= 3 and day.startswith(word)), "")


def _day(word: str, today: date) -> tuple[date | None, bool]:
    """The day that a word names, and whether it is one of each week. None if it names none."""
    if word in ("today", "tomorrow", "yesterday"):
        return today + timedelta(days={"today": 0, "tomorrow": 1, "yesterday": -1}[word]), False
    if name := _day_name(word):
        return today + timedelta(days=(DAYS.index(name) - today.weekday()) % 7), True
    try:
        return date.fromisoformat(word), False
    except ValueError:
        return None, False


def _clock(text: str, words: str) -> time:
    found = _CLOCK.fullmatch(text.strip())
    if not found or not (found[2] or found[5]):
        raise _not_read(words)
    hour, half = int(found[1]), (found[5] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise _not_read(words)
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        return time(hour, int(found[2] or 0), int(found[3] or 0), round(float(found[4] or 0) * 1_000_000))
    except ValueError:
        raise _not_read(words) from None


def _not_read(words: str) -> NotRead:
    return NotRead(f"{words!r} is no point in time. It is written {ALLOWED}.")


def local(wall: datetime, there: tzinfo) -> Moment:
    """Makes an instant of a time that the clocks of a zone show.

    Of what is left out in spring it is the end of the gap; of an hour that is there twice in autumn it is the first.
    """
    first, second = shown_by(wall, there).astimezone(there), wall.replace(tzinfo=there, fold=1)
    shown = f"{wall:%Y-%m-%d %H:%M}"
    if first.replace(tzinfo=None) != wall:
        said = f"There is no {shown} in {name_of(there)}: the clocks go forward then. {first:%H:%M} is taken."
        return Moment(first, said, left_out=wall)
    if first.utcoffset() == second.utcoffset():
        return Moment(first)
    return Moment(
        first,
        f"{shown} is there twice in {name_of(there)}: the clocks are set back. The first is taken; "
        f"the second is {second.isoformat()}.",
    )
