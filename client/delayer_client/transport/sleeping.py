"""How a sender waits, and what time it is. unasync turns `async_sleep` into `sleep`."""

import asyncio
import time
from datetime import UTC, datetime

async_sleep = asyncio.sleep
sleep = time.sleep


def utc_now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)
