"""The target gets a payload that is JSON, with nothing in it that only EventBridge could fill in."""

import json
import re
from datetime import datetime
from typing import Any, Final

import msgspec

from delayer_client.eventbridge.mapping.arns import arn_of
from delayer_client.eventbridge.mapping.expressions import PLACEHOLDER, text_of
from delayer_client.eventbridge.mapping.outcome import CannotMove, Note
from delayer_client.eventbridge.reading.sources import Schedule

LARGEST: Final = 262_144  # bytes of a body; a test compares them with the API
LARGEST_OF: Final = {"sns-publish": 253_952, "step-start": 253_952}
DEEPEST: Final = 490  # levels; the API takes 500, the body itself counts
SCHEDULED_TIME: Final = "<aws.scheduler.scheduled-time>"
SCHEDULE_ARN: Final = "<aws.scheduler.schedule-arn>"
WITHOUT_COUNTERPART: Final = {
    "<aws.scheduler.execution-id>": "Delayer gives the target its schedule's id beside the payload, not in it",
    "<aws.scheduler.attempt-number>": "Delayer sends the same bytes at each attempt, and the number beside them",
}
TIME_NOTE: Final = Note(
    "Target.Input", f"the scheduled time is {PLACEHOLDER}: with milliseconds, such as 2026-11-23T09:00:00.000Z"
)
NO_ID: Final = Note("Target.Input", "the default event has no `id` now: the id of Delayer's schedule is beside it")
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)


def input_of(schedule: Schedule, due: datetime | None) -> tuple[str, tuple[Note, ...]]:
    """The text that EventBridge Scheduler would send. `due` is the time of one that fires once. Raises CannotMove."""
    if schedule.target.input is None:
        return _default_event(schedule, due)
    text, notes = schedule.target.input, []
    for name, why in WITHOUT_COUNTERPART.items():
        if name in text:
            raise CannotMove("Target.Input", f"it has {name}, which has no counterpart: {why}")
    if SCHEDULED_TIME in text and due is None:
        notes.append(TIME_NOTE)
    if SCHEDULE_ARN in text:
        notes.append(Note("Target.Input", f"{SCHEDULE_ARN} is written out: the ARN of the schedule at EventBridge"))
    if SCHEDULE_ARN in text and not schedule.arn:
        raise CannotMove("Target.Input", f"it has {SCHEDULE_ARN}, and what was read does not say the ARN")
    _check_placeholders(text, is_series=due is None)
    text = text.replace(SCHEDULE_ARN, schedule.arn).replace(SCHEDULED_TIME, moment_of(due))
    return text, tuple(notes)


def moment_of(due: datetime | None) -> str:
    """The scheduled time, or what takes its place in a series."""
    return PLACEHOLDER if due is None else text_of(due)


def checked_payload(text: str, field: str, *, is_series: bool) -> str:
    """A text that is JSON as Delayer takes it. Raises CannotMove."""
    try:
        text.encode()
        json.loads(text, parse_constant=_refused)
        msgspec.json.decode(text)  # which refuses numbers that no float can hold, as 1e400
    except (ValueError, RecursionError) as error:
        reason = "it is not JSON, and a payload of Delayer is; for a text, put quotes around it"
        raise CannotMove(field, f"{reason} ({str(error)[:80]})") from error
    if _depth(text) > DEEPEST:
        raise CannotMove(field, f"it is nested more than {DEEPEST} levels deep")
    if is_series and "<delayer.occurrence.number>" in text:
        raise CannotMove(field, "it has <delayer.occurrence.number>, which Delayer would replace")
    return text


def check_size(kind: str, payload: str) -> None:
    """Raises CannotMove."""
    most = LARGEST_OF.get(kind, LARGEST)
    size = len(payload.encode())
    if size > most:
        raise CannotMove("Target.Input", f"it has {size:,} bytes; {kind} takes {most:,}")


def scheduled_event(arn: str, source: str, detail: Any, due: datetime | None) -> dict[str, Any]:
    """The event that EventBridge makes when nothing else is said, without the `id` that it alone can know."""
    by = arn_of(arn)
    return {
        "version": "0",
        "detail-type": "Scheduled Event",
        "source": source,
        "account": by.account,
        "time": moment_of(due),
        "region": by.region,
        "resources": [arn],
        "detail": detail,
    }


def compact(value: Any) -> str:
    """JSON, as short as it can be."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _default_event(schedule: Schedule, due: datetime | None) -> tuple[str, tuple[Note, ...]]:
    if not schedule.arn:
        raise CannotMove("Target.Input", "without one the default event is sent, and the ARN in it was not read")
    event = scheduled_event(schedule.arn, "aws.scheduler", "{}", due)  # a text there, unlike in the event of a rule
    return compact(event), (NO_ID,) if due else (NO_ID, TIME_NOTE)


def _check_placeholders(text: str, *, is_series: bool) -> None:
    if is_series and PLACEHOLDER in text:
        raise CannotMove("Target.Input", f"it has {PLACEHOLDER}, which Delayer would replace")


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _depth(text: str) -> int:
    deepest = depth = 0
    for sign in re.findall(r"[][{}]", _TEXTS.sub("", text)):
        depth += 1 if sign in "[{" else -1
        deepest = max(deepest, depth)
    return deepest
