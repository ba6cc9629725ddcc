"""Lists leave some things out, such as why a schedule waits: a few of them are looked up one by one."""

import asyncio
from collections.abc import Sequence
from typing import Final

from delayer_client.api.models import Schedule
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.errors import DelayerError

AT_MOST: Final = 20
AT_ONCE: Final = 5


async def looked_up(client: AsyncDelayer, listed: Sequence[Schedule], at_most: int = AT_MOST) -> list[Schedule]:
    """The first of them as their own pages show them; what cannot be looked up stays as it was listed."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def look(one: Schedule) -> Schedule:
        async with turns:
            try:
                return await client.get(one.id)
            except DelayerError:
                return one

    return list(await asyncio.gather(*(look(one) for one in listed[:at_most])))
