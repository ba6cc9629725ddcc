"""A rule in English, as a preview shows it: `every weekday at 09:00, Europe/Lisbon`."""

import re
from collections.abc import Iterable
from typing import Final

from cronsim.explain import explain

from delayer.recurrence.cron import Cron
from delayer.recurrence.duration import Calendar, Interval, format_wall
from delayer.recurrence.rule import RecurrenceRule
from delayer.schedule.instants import HOUR, MINUTE, SECOND, Millis, format_instant

_ORDINAL = re.compile(r"\b(\d*?)([123])th\b")  # of cronsim: 21th
_ENDINGS: Final = {"1": "st", "2": "nd", "3": "rd"}
_STEP = re.compile(r"(?:\*|0)/([2-9]|[1-5]\d) ", re.ASCII)
_EACH = re.compile(r"^every \w+ minute(?: of every hour)?")
_AT_ON = re.compile(r"at ([\d:, and]+) on (Monday through Friday|[A-Z][a-z]+day)")
_AT_EVERY_DAY = re.compile(r"at ([\d:, and]+) every day")
_SHORTER = "; in a shorter month on its last day"


def description(rule: RecurrenceRule) -> str:
    """Which times these are. Not when they end."""
    match rule.pattern:
        case Cron() as cron:
            return f"{_cron(cron)}, {rule.time_zone}"
        case Calendar() as calendar:
            return f"{_calendar(calendar)}, {rule.time_zone}"
        case Interval() as interval:
            return f"every {_length(interval.length)}, from {format_instant(interval.anchor)}"


def _cron(cron: Cron) -> str:
    minute, hour, _, month, _ = cron.fields.split()
    days, weekdays = cron.days_that_count
    usual = " ".join([minute, hour, days or "*", month, weekdays])
    text = _with_nearest(cron, weekdays) if days is None else _usual(usual)
    return text + (f", in {_years(cron.years)}" if cron.years else "")


def _with_nearest(cron: Cron, weekdays: str) -> str:
    """Says what cronsim cannot say: the weekdays nearest to some days."""
    minute, hour, days, month, _ = cron.fields.split()
    nearest = "the weekday nearest to " + _listed(f"the {_ordinal(day)}" for day in sorted(cron.nearest))
    text = _usual(f"{minute} {hour} * {month} *").removeprefix("every day ").replace(" every day", "")
    text = " or ".join([f"{text} on {nearest}", *[f"on day {days}"] * cron.has_days])
    if weekdays == "*":
        return text
    return f"{text}, if it is on weekday {weekdays}" if cron.needs_both else f"{text} or on weekday {weekdays}"


def _usual(fields: str) -> str:
    """As cronsim explains it, with the day in front of the time where people say it so."""
    text = explain(fields)
    text = _ORDINAL.sub(_with_ending, text[0].lower() + text[1:])
    if (step := _STEP.match(fields)) and 60 % int(step[1]) == 0:
        text = _EACH.sub(f"every {step[1]} minutes", text, count=1)
    if match := _AT_ON.fullmatch(text):
        return f"every {match[2].replace('Monday through Friday', 'weekday')} at {match[1]}"
    if match := _AT_EVERY_DAY.fullmatch(text):
        return f"every day at {match[1]}"
    return text


def _with_ending(match: re.Match[str]) -> str:
    is_teen = (match[1] or "").endswith("1")
    return f"{match[1] or ''}{match[2]}{'th' if is_teen else _ENDINGS[match[2]]}"


def _ordinal(number: int) -> str:
    return _ORDINAL.sub(_with_ending, f"{number}th")


def _years(years: Iterable[int]) -> str:
    """Those in a row as a range."""
    found: list[list[int]] = []
    for year in sorted(years):
        if found and year == found[-1][-1] + 1:
            found[-1] = [found[-1][0], year]
        else:
            found.append([year])
    return _listed(" to ".join(map(str, one)) for one in found)


def _calendar(calendar: Calendar) -> str:
    first = format_wall(calendar.anchor)
    parts = [(calendar.months // 12, "year"), (calendar.months % 12, "month"), (calendar.days, "day")]
    is_clamped = calendar.months and int(first[8:10]) > 28
    return f"every {_counted(parts)}, from {first[:10]} at {_time(calendar.anchor)}{_SHORTER if is_clamped else ''}"


def _time(wall: Millis) -> str:
    """To the minute, if it is a whole one."""
    return format_wall(wall)[11:16] if wall % MINUTE == 0 else format_wall(wall)[11:]


def _length(length: Millis) -> str:
    hours, minutes, seconds = length // HOUR, length % HOUR // MINUTE, length % MINUTE // SECOND
    return _counted([(hours, "hour"), (minutes, "minute"), (seconds, "second")])


def _counted(parts: Iterable[tuple[int, str]]) -> str:
    """One of one unit without the number, as in `every day`."""
    found = [(number, unit) for number, unit in parts if number]
    if len(found) == 1 and found[0][0] == 1:
        return found[0][1]
    return _listed(f"{number} {unit}{'s' * (number > 1)}" for number, unit in found)


def _listed(parts: Iterable[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
