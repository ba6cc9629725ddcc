"""How Delayer asks a function in another stack: what its class says, and to make an attempt (ADR 0090)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, assert_never

from delayer.core.actions import action_type
from delayer.core.firing.executing import Done, Refused, Result, Retry
from delayer.core.schedule.messages import ExecutorMessage, decode

if TYPE_CHECKING:
    from delayer.extension.executor import Executor

DESCRIBE: Final = "describe"
ATTEMPT: Final = "attempt"


def answer(target: "Executor[Any]", event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """The answer to one question. What the function raises is raised: the invocation fails, and so the attempt."""
    match event["delayer"]:
        case "describe":
            return {"action": action_type.encode(target.action_type)}
        case "attempt":
            return as_answer(target(decode(event["message"], ExecutorMessage)))
    raise ValueError(f"no such question: {event['delayer']!r}")


def as_answer(result: Result) -> dict[str, Any]:
    """A result as JSON."""
    match result:
        case Done(detail):
            return {"outcome": "done", "detail": detail}
        case Retry(detail=detail, after_seconds=after):
            return {"outcome": "retry", "detail": detail, "afterSeconds": after}
        case Refused(detail):
            return {"outcome": "refused", "detail": detail}
    assert_never(result)


def as_result(content: object) -> Result:
    """The inverse. Raises ValueError for what is no answer."""
    match content:
        case {"outcome": "done", "detail": str(detail)}:
            return Done(detail)
        case {"outcome": "retry", "detail": str(detail), "afterSeconds": int(after)} if after >= 0:
            return Retry(detail=detail, after_seconds=after)
        case {"outcome": "retry", "detail": str(detail)}:
            return Retry(detail=detail)
        case {"outcome": "refused", "detail": str(detail)}:
            return Refused(detail)
    raise ValueError("what the function returned is no Done, Retry or Refused")
