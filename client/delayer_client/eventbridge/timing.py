"""The fields of a request that say when, and the flexible window beside them."""

from datetime import datetime
from typing import Any

from delayer_client.eventbridge.mapping.expressions import instant_of, is_one_time, rule_of, text_of
from delayer_client.eventbridge.mapping.outcome import Note, Options
from delayer_client.eventbridge.mapping.spacing import least_seconds
from delayer_client.eventbridge.reading.sources import Schedule


def timing_of(schedule: Schedule, options: Options) -> tuple[dict[str, Any], tuple[Note, ...], datetime | None]:
    """The fields, notes, and the instant of what fires once. Raises CannotMove."""
    zone = schedule.schedule_expression_timezone
    seconds = 0
    if schedule.flexible_time_window.mode == "FLEXIBLE":
        seconds = (schedule.flexible_time_window.maximum_window_in_minutes or 1) * 60
    if is_one_time(schedule.schedule_expression):
        due, notes = instant_of(schedule.schedule_expression, zone, options)
        window = {"window": {"seconds": seconds}} if seconds else {}
        return {"pointInTime": text_of(due), **window}, notes, due
    repeat, notes = rule_of(schedule, options)
    timing: dict[str, Any] = {"repeat": repeat}
    if seconds:
        most = least_seconds(schedule.schedule_expression, zone, options.now) - 1
        timing["window"] = {"seconds": min(seconds, most)}
        if seconds > most:
            text = (
                f"Delayer's window has to be shorter than the interval of the rule: {most} seconds instead of {seconds}"
            )
            notes = (*notes, Note("FlexibleTimeWindow", text))
    return timing, notes, None
