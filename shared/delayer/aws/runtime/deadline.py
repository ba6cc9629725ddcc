"""How long the running invocation may still take, and so each of its calls of AWS (ADR 0073)."""

import time
from typing import Final

MARGIN: Final = 0.1  # of the time that Lambda gives is kept for the answer,
MOST_MARGIN: Final = 2.0  # but not more than these seconds
GATEWAY_WAITS_LONGER: Final = 2.0  # seconds; the timeout of an integration less that of its function
GATEWAY_LIMIT: Final = 30.0  # seconds; a request that seems older than any gateway waits was stamped by another clock
SHARE: Final = 0.5  # of what is left, for one call with its retries
NEVER: Final = float("inf")


class Deadline:
    """The instant at which an invocation must be ready to answer.

    There is one for the whole process: Lambda runs one invocation at a time in it, and all threads work for that one.
    """

    def __init__(self) -> None:
        self._at = NEVER
        self.share = SHARE  # a function that makes one call alone gives it all

    def begin(self, event: object, context: object) -> None:
        """An invocation begins. Without Lambda's context, as in a test, there is no deadline."""
        remaining = getattr(context, "get_remaining_time_in_millis", None)
        if remaining is None:
            self._at = NEVER
            return
        seconds: float = remaining() / 1000
        self._at = time.monotonic() + seconds - min(seconds * MARGIN, MOST_MARGIN) - _lost(event)

    def left(self) -> float:
        """Seconds; infinite if there is no deadline, negative if it has passed."""
        return self._at - time.monotonic()

    def end_of_call(self) -> float:
        """When a call that begins now must end, by time.monotonic.

        It gets only a part of what is left. What comes after a call that hangs, such as the hand-over after a claim or
        the next message of the batch, finds time of its own.
        """
        return time.monotonic() + self.left() * self.share


def _lost(event: object) -> float:
    """Seconds that the start of the function took from its answer: the gateway began to wait before it."""
    match event:
        case {"requestContext": {"timeEpoch": int() | float() as received}}:
            waited = time.time() - received / 1000
            return max(waited - GATEWAY_WAITS_LONGER, 0) if waited < GATEWAY_LIMIT else 0
    return 0


DEADLINE: Final = Deadline()
