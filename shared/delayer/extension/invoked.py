"""The answers of a function in another stack to executor-remote, which invokes it (ADR 0090)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from delayer.actions.rules.invocation import ATTEMPT, DESCRIBE, QUESTION, answered, described
from delayer.actions.rules.model import Refused, Retry
from delayer.schedule.instants import Malformed, UnknownVersion
from delayer.schedule.messages import ExecutorMessage, decode

if TYPE_CHECKING:
    from delayer.extension.executor import Executor

MARGIN: Final = 0.5  # seconds of the invocation that are kept for the answer


def answer(target: "Executor[Any]", event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """The answer to one question. What the function raises is raised: the invocation fails, and so the attempt.

    What it cannot read now it can never read: no further attempt is made.
    """
    if event[QUESTION] == DESCRIBE:
        return described(target.action_type)
    if event[QUESTION] != ATTEMPT:
        raise ValueError(f"no such question: {event[QUESTION]!r}")
    try:
        message = target.message_of(decode(event["message"], ExecutorMessage))
    except Malformed as error:
        return answered(Refused(error.reason))
    except UnknownVersion:
        return answered(Retry(detail="the function was built with an older Delayer, which cannot read this message"))
    return answered(target.attempt(evolve(message, seconds_left=_seconds_left(target, context))))


def _seconds_left(target: "Executor[Any]", context: object) -> float:
    """By Lambda's context, and no more than the function was given."""
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    return target.seconds if remaining is None else min(max(remaining() / 1000 - MARGIN, 0.0), target.seconds)
