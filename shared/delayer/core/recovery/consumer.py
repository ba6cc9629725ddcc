"""Which function handles a suspect: all queues share one queue of suspects (ADR 0175)."""

import json
from typing import Any, Final

RELAY: Final = "delayer-relay"
STEPPER: Final = "series-stepper"
EXECUTOR: Final = "executor-"  # with which the names of the executors begin, and those of their queues
UNKNOWN_TYPES: Final = "executor-remote"  # there, a schedule of a type without an executor waits
WORKING: Final = {"DelayerQueue": RELAY, "SeriesQueue": STEPPER}


def consumer_of(body: str, origin: str, stack: str) -> str:
    """The function, without the name of the stack.

    `origin` is the queue from which SQS has moved the message: `<stack>-<name>-<the first part of the stack's id>`. It
    is empty if somebody has sent the message here, such as a move from a deleted stack: then the body tells.
    """
    name = origin.removeprefix(f"{stack}-").rpartition("-")[0]
    if name.startswith(EXECUTOR):
        return name
    return WORKING.get(name) or _by_body(body)


def _by_body(body: str) -> str:
    """A glance: the function reads it again, and strictly. What nobody can read the relay makes a dead letter of."""
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError):
        return RELAY
    match content:
        case {"specversion": _}:
            return STEPPER
        case {"fence": _, "action": {"type": str(kind)}}:
            return EXECUTOR + kind
    return RELAY
