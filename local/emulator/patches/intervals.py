"""Waits of ministack that AWS does not have."""

import importlib
from typing import Any


def shorten_waits(lambda_service: Any) -> None:
    """Shorten them."""
    # The wait after a pass that found nothing. It may be short, because polls are cheap now (DelayedWakes).
    lambda_service._ESM_IDLE_WAKE_GAP_SECONDS = 0.002
    # Rules are checked every 10 s, so that the ticks of a rate of one minute would be 60 to 70 s apart.
    rules: Any = importlib.import_module("ministack.services.eventbridge")
    rules._SCHEDULER_TICK_INTERVAL = 1
