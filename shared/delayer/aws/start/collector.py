"""Python's garbage collector rests while a function starts (ADR 0117).

An import makes some 130,000 objects, and all of them stay. The collector would look at them again and again, for
nothing: up to a third of the processor time of a cold start.
"""

import gc
import os
from typing import Final

STARTING: Final = 300_000  # objects, more than an import makes; a process that never becomes ready still collects
READY: Final = gc.get_threshold()  # Python's own, which differs from version to version
IN_LAMBDA: Final = "AWS_LAMBDA_FUNCTION_NAME"  # Lambda's own; a test or a tool that imports this keeps its collector


def rest() -> None:
    """From the first import on."""
    if IN_LAMBDA in os.environ:
        gc.set_threshold(STARTING)


def work() -> None:
    """The function is ready. What it has imported is not looked at by any later collection either."""
    if gc.get_threshold()[0] == STARTING:
        gc.freeze()
        gc.set_threshold(*READY)
