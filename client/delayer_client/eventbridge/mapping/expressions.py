"""When: `at(…)` becomes an instant, `cron(…)` and `rate(…)` a rule, which Delayer takes as they are."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from delayer_client.calls.times import shown_by
from delayer_client.eventbridge.mapping.outcome import CannotMove, Note, Options
from delayer_client.eventbridge.reading.sources import Schedule

LEAD: Final = timedelta(minutes=5)  # what is due sooner would fire at EventBridge before it can be switched off there
FURTHEST: Final = timedelta(days=3_650)  # Delayer takes ten years
PLACEHOLDER: Final = "<delayer.occurrence.time>"
_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)", re.ASCII)
_RATE = re.compile(r"rate\(\s*([1-9]\d{0,8})\s+(minute|hour|day)s?\s*\)", re.ASCII)
_CRON = re.compile(r"cron\(\s*\S+(\s+\S+){5}\s*\)", re.ASCII)
_SECONDS: Final = {"minute": 60, "hour": 3_600, "day": 86_400}


def is_one_time(expression: str) -> bool:
    """Whether it fires once."""
    return expression.startswith("at(")


def zone_of(name: str) -> ZoneInfo:
    """Raises CannotMove."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        reason = f"this machine does not know the zone {name}; if there is such a zone, `pip install tzdata` brings it"
        raise CannotMove("ScheduleExpressionTimezone", reason) from error


def instant_of(expression: str, zone: str, options: Options) -> tuple[datetime, tuple[Note, ...]]:
    """When an `at(…)` is due, in UTC. Raises CannotMove."""
    match = _AT.fullmatch(expression)
    try:
        local = datetime.fromisoformat(match[1]) if match else None
    except ValueError:
        local = None
    if local is None:
        raise CannotMove("ScheduleExpression", f"{expression} is no at(yyyy-mm-ddThh:mm:ss)")
    where = zone_of(zone)
    due = shown_by(local, where)
    _check_due(due, options)
    return due, _clock_notes(local, where, due)


def rule_of(schedule: Schedule, options: Options) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """The `repeat` of a schedule that recurs. Raises CannotMove."""
    zone_of(schedule.schedule_expression_timezone)
    repeat, notes = repeat_of(schedule.schedule_expression, options)
    repeat["timeZone"] = schedule.schedule_expression_timezone
    start, end = schedule.start_date, schedule.end_date
    first = max((one for one in (start, options.cutover) if one is not None), default=None)
    if end is not None and end <= max(first or options.now, options.now):
        passed = "has passed" if end <= options.now else "is before its beginning, or before the cut-over"
        reason = f"its end, {text_of(end)}, {passed}: it has no time left to move"
        raise CannotMove("EndDate", reason, until=end if end > options.now else None)
    if first is not None:
        repeat["from"] = text_of(first)
    if end is not None:
        repeat["until"] = text_of(end)
    if seconds_of(schedule.schedule_expression):
        repeat, notes = _anchored(repeat, start or schedule.creation_date, is_start=start is not None)
    return repeat, notes


def repeat_of(expression: str, options: Options) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """In UTC, as the rules of an event bus are. Raises CannotMove."""
    if not (_CRON.fullmatch(expression) or _RATE.fullmatch(expression)):
        wanted = "cron(…) with six fields, or rate(…) of minutes, hours or days"
        raise CannotMove("ScheduleExpression", f"{expression or 'it'} is not {wanted}")
    repeat: dict[str, Any] = {"cron": expression, "timeZone": "UTC"}
    if options.cutover is not None:
        repeat["from"] = text_of(options.cutover)
    if seconds_of(expression):
        since = "the cut-over" if options.cutover else "the import"
        text = f"EventBridge does not say from when it counts; Delayer counts from {since}"
        return repeat, (Note("ScheduleExpression", text),)
    return repeat, ()


def seconds_of(expression: str) -> int:
    """Of a `rate(…)`; 0 for anything else."""
    match = _RATE.fullmatch(expression)
    return int(match[1]) * _SECONDS[match[2]] if match else 0


def text_of(instant: datetime) -> str:
    """RFC 3339 in UTC, as EventBridge writes it: whole seconds, and fractions only if there are any."""
    moment = instant.astimezone(UTC).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds") + "Z"


def _anchored(
    repeat: dict[str, Any], since: datetime | None, *, is_start: bool
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    if since is None:
        return repeat, (Note("ScheduleExpression", "it is counted from the import: no start is known"),)
    anchored = {**repeat, "anchor": text_of(since)}
    if is_start:
        return anchored, ()
    text = "without a StartDate it is counted from its creation; compare the next times if it was changed since"
    return anchored, (Note("ScheduleExpression", text),)


def _check_due(due: datetime, options: Options) -> None:
    if due <= options.now:
        raise CannotMove("ScheduleExpression", f"it was due at {text_of(due)}, which has passed")
    if options.cutover is not None and due < options.cutover:
        reason = f"it is due at {text_of(due)}, before the cut-over: leave it"
        raise CannotMove("ScheduleExpression", reason, until=due)
    if due < options.now + LEAD:
        reason = "EventBridge would fire it before it can be switched off there: leave it"
        raise CannotMove("ScheduleExpression", f"it is due at {text_of(due)}, within five minutes; {reason}")
    if due > options.now + FURTHEST:
        raise CannotMove("ScheduleExpression", f"it is due at {text_of(due)}; Delayer takes up to ten years ahead")


def _clock_notes(local: datetime, where: ZoneInfo, due: datetime) -> tuple[Note, ...]:
    shown = due.astimezone(where).replace(tzinfo=None)
    if shown != local:
        text = f"the clocks of {where.key} leave this time out; it is moved to the end of the gap, {text_of(due)}"
    elif local.replace(tzinfo=where, fold=1).astimezone(UTC) != due:
        text = f"the clocks of {where.key} show this time twice; the first is taken, {text_of(due)}"
    else:
        return ()
    return (Note("ScheduleExpression", text),)
