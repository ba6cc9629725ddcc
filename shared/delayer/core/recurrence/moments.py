"""`from`, `until` and `anchor`: an instant, or a date with or without a time on the wall clock of the rule's zone."""

import re
from datetime import datetime, timedelta
from typing import Final

from delayer.core.recurrence.duration import LAST_WALL
from delayer.core.recurrence.terms import BadText
from delayer.core.recurrence.zones import EPOCH, instants_of, offset_at, span_at, wall_at
from delayer.core.schedule.instants import DAY, Millis, parse_instant

EXAMPLES: Final = "2027-03-01T09:00:00Z, or by the zone of the rule 2027-03-01T09:00:00, or 2027-03-01"
_LOCAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def parse_wall(text: str, zone: str) -> Millis:
    """A wall time; of an instant what the clock shows then. Raises BadText with the reason."""
    try:
        if _LOCAL.fullmatch(text) or _DATE.fullmatch(text):
            wall = (datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1)
        else:
            wall = wall_at(zone, _checked(parse_instant(text)))
    except ValueError as error:
        raise BadText(str(error), EXAMPLES) from error
    return _checked(wall)


def parse_first(text: str, zone: str) -> Millis:
    """The first instant that is meant; of a date, the beginning of the day. Raises BadText."""
    if _is_instant(text):
        return _instant(text)
    return first_instant_from(zone, parse_wall(text, zone))


def parse_last(text: str, zone: str) -> Millis:
    """The last instant that is meant; of a date, the end of the day. Raises BadText."""
    if _is_instant(text):
        return _instant(text)
    is_day = bool(_DATE.fullmatch(text))
    wall = parse_wall(text, zone) + (DAY - 1 if is_day else 0)
    return max(instants_of(zone, wall), default=first_instant_from(zone, wall) - is_day)


def first_instant_from(zone: str, wall: Millis) -> Millis:
    """The first at which the clock shows this, or, if this is left out, the first after the clocks are changed."""
    found = instants_of(zone, wall)
    return found[0] if found else span_at(zone, wall - offset_at(zone, wall - DAY)).begin


def format_wall(wall: Millis) -> str:
    """As it is parsed: 2027-01-31T09:00:00.000."""
    return (EPOCH + timedelta(milliseconds=wall)).isoformat(timespec="milliseconds")


def _is_instant(text: str) -> bool:
    return not (_LOCAL.fullmatch(text) or _DATE.fullmatch(text))


def _instant(text: str) -> Millis:
    try:
        return _checked(parse_instant(text))
    except ValueError as error:
        raise BadText(str(error), EXAMPLES) from error


def _checked(at: Millis) -> Millis:
    if not 0 <= at < LAST_WALL:
        raise BadText("not between the years 1970 and 2199", EXAMPLES)
    return at
