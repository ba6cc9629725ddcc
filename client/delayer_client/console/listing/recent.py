"""The schedules that were due last: a list runs forward in time, so it is asked piece by piece, backwards."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from attrs import frozen

from delayer_client.api.models import Schedule
from delayer_client.asynchronous.client import AsyncDelayer

AT_MOST: Final = 1_000  # schedules that figures cover
PAGE: Final = 100
LONGEST: Final = timedelta(hours=1)
FIRST: Final = timedelta(minutes=2)
SHORTEST: Final = timedelta(seconds=1)


@frozen(kw_only=True)
class Listed:
    """In due order."""

    schedules: Sequence[Schedule]
    since: datetime | None = None  # how far back it reaches; None: no end was asked for
    is_cut: bool  # there are more than were read


async def recent(client: AsyncDelayer, now: datetime, at_most: int = AT_MOST, longest: timedelta = LONGEST) -> Listed:
    """Lists the schedules that were due last, so far back at most.

    A second that holds more than fits is cut: of that one, it has the first.
    """
    begin = now - longest
    found: list[Schedule] = []
    until, span = now, FIRST
    while until > begin and len(found) < at_most:
        since = max(until - span, begin)
        piece = await between(client, since, until, at_most - len(found))
        if piece.is_cut and span > SHORTEST:
            span = max(span / 8, SHORTEST)
            continue
        found = [*piece.schedules, *found]
        until, span = since, span * 4
        if piece.is_cut:
            break
    is_cut = until > begin
    return Listed(schedules=found[-at_most:], since=until, is_cut=is_cut)


async def between(
    client: AsyncDelayer,
    since: datetime | None,
    until: datetime | None,
    at_most: int,
    *,
    state: str | None = None,
    pages: int = AT_MOST,
) -> Listed:
    """The first of those that are due in this time, from so many pages at most."""
    found: list[Schedule] = []
    cursor = None
    for _ in range(pages):
        page = await client.page(since=since, until=until, state=state, page_size=PAGE, cursor=cursor)
        found += page.schedules
        cursor = page.next_cursor
        if not cursor or len(found) >= at_most:
            break
    return Listed(schedules=found[:at_most], since=since, is_cut=bool(cursor) or len(found) > at_most)
