"""Search: by id and name exactly, by group and tag, and by a part of what the list knows."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from attrs import evolve, frozen

from delayer_client.api.models import Schedule, Series
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.console.listing import journal
from delayer_client.console.listing.recent import between, recent
from delayer_client.console.words.schedules import kind, target
from delayer_client.errors import Expired, Invalid, NotFound

PAST: Final = 700  # schedules that were due last
AHEAD: Final = 300  # schedules that are due next
BACK: Final = timedelta(days=29)
SERIES: Final = 100
SCHEDULE_ID: Final = re.compile(r"[0-9a-v]{40,60}")
SERIES_ID: Final = re.compile(r"[0-9a-f]{32}")
NAME: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}")


@frozen(kw_only=True)
class Found:
    """The result of a search."""

    schedule: Schedule | None = None  # by its id or its name
    series: Series | None = None
    group: Sequence[Schedule] = ()
    among: Sequence[Schedule] = ()  # of those listed
    looked_at: int = 0
    is_cut: bool = False  # more are listed than were looked at
    series_among: Sequence[Series] = ()  # of the first that are listed
    problem: str = ""  # why nothing was looked at


async def find(client: AsyncDelayer, text: str, now: datetime) -> Found:
    """`group:…` and `tag:name=value` say what is meant; anything else is tried as an id, a name, a group and a part."""
    what, _, rest = text.partition(":")
    if what == "tag" and rest:
        return await _among(client, now, Found(), lambda one: _has_tag(one, rest))
    if what == "group" and rest:
        return Found(group=await _group(client, rest))
    if SCHEDULE_ID.fullmatch(text):
        return Found(schedule=await _one(client.get(text)))
    if SERIES_ID.fullmatch(text):
        return Found(series=await _one(client.series.get(text)))
    found = Found()
    if NAME.fullmatch(text):
        found = Found(
            schedule=await _one(client.get_named(text)),
            series=await _one(client.series.get_named(text)),
            group=await _group(client, text),
        )
    return await _among(client, now, found, lambda one: _holds(one, text.lower()))


async def _one(asked: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await asked
    except (NotFound, Expired, Invalid):
        return None


async def _group(client: AsyncDelayer, group: str) -> Sequence[Schedule]:
    if not NAME.fullmatch(group):
        return ()
    return (await client.page(group=group, page_size=100)).schedules


async def _among(client: AsyncDelayer, now: datetime, found: Found, fits: Callable[[Any], bool]) -> Found:
    """Those that fit, of the same schedules that Now shows, but from further back; and of the first series."""
    series = (await client.series.page(page_size=SERIES)).series
    found = evolve(found, series_among=[one for one in series if fits(one) and one != found.series])
    try:
        past, ahead = await asyncio.gather(recent(client, now, PAST, BACK), between(client, now, None, AHEAD))
    except Invalid as error:
        if not journal.is_off(error):
            raise
        return evolve(found, problem=journal.SENTENCE)
    listed = [*past.schedules, *ahead.schedules]
    return evolve(
        found,
        among=[one for one in listed if fits(one)],
        looked_at=len(listed),
        is_cut=past.is_cut or ahead.is_cut,
    )


def _has_tag(one: Schedule | Series, tag: str) -> bool:
    name, sign, value = tag.partition("=")
    tags = one.tags or {}
    return tags.get(name) == value if sign else name in tags


def _holds(one: Schedule | Series, part: str) -> bool:
    tags = (text for pair in (one.tags or {}).items() for text in pair)
    texts = (one.name or "", one.group or "", kind(one), target(one), *tags)
    return any(part in text.lower() for text in texts)
