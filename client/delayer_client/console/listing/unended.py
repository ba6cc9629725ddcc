"""Finds schedules that were due long ago and have not ended: they are still in the table, suspended, behind a circuit,
or attempted again.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Final

from attrs import define, field

from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.console.listing.recent import Listed, between
from delayer_client.states import LIVE

AT_MOST: Final = 300  # of each state, those that were due first
PAGES: Final = 3  # of each state: a page looks at a thousand schedules
KEPT: Final = timedelta(seconds=30)  # a list by state reads much, and what has waited for an hour changes slowly
OWNERS: Final = 20


@define
class Unended:
    """Asks every half minute at most for each owner, however many pages are open."""

    _known: dict[str, tuple[datetime, Listed]] = field(factory=dict)

    async def look(self, owner: str, client: AsyncDelayer, now: datetime) -> Listed:
        """Returns the list of half a minute ago, or that of now, in due order."""
        known = self._known.get(owner)
        if known is None or now - known[0] > KEPT:
            known = now, await unended(client, now)
            self._known.pop(owner, None)
            self._known[owner] = known
            if len(self._known) > OWNERS:
                self._known.pop(next(iter(self._known)))
        return known[1]


async def unended(client: AsyncDelayer, now: datetime) -> Listed:
    """All that was due before now and is not at its end, from as long ago as the list reaches."""
    found = await asyncio.gather(*(between(client, None, now, AT_MOST, state=state, pages=PAGES) for state in LIVE))
    schedules = [one for listed in found for one in listed.schedules]
    schedules.sort(key=lambda one: (one.point_in_time or now, one.id))
    return Listed(schedules=schedules, is_cut=any(listed.is_cut for listed in found))
