"""Search: by id and name exactly, by group and tag, and by a part of what the list knows."""

import re
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from attrs import frozen

from delayer_client.api.models import Schedule, Series
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.console.listing.recent import AT_MOST, between
from delayer_client.console.words.schedules import kind, target
from delayer_client.errors import Expired, Invalid, NotFound

SCHEDULE_ID: Final = re.compile(r"[0-9a-v]{40,60}")
SERIES_ID: Final = re.compile(r"[0-9a-f]{32}")
NAME: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}")


@frozen(kw_only=True)
class Found:
    """What a search has come to."""

    schedule: Schedule | None = None  # by its id or its name
    series: Series | None = None
    group: Sequence[Schedule] = ()
    among: Sequence[Schedule] = ()  # of those listed
    looked_at: int = 0
    is_cut: bool = False  # more are listed than were looked at


async def find(client: AsyncDelayer, text: str) -> Found:
    """`group:…` and `tag:name=value` say what is meant; anything else is tried as an id, a name, a group and a part."""
    what, _, rest = text.partition(":")
    if what == "tag" and rest:
        return await _among(client, Found(), lambda one: _has_tag(one, rest))
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
    return await _among(client, found, lambda one: _holds(one, text.lower()))


async def _one(asked: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await asked
    except (NotFound, Expired, Invalid):
        return None


async def _group(client: AsyncDelayer, group: str) -> Sequence[Schedule]:
    if not NAME.fullmatch(group):
        return ()
    return (await client.page(group=group, page_size=100)).schedules


async def _among(client: AsyncDelayer, found: Found, fits: Callable[[Schedule], bool]) -> Found:
    listed = await between(client, None, None, AT_MOST)
    among = [one for one in listed.schedules if fits(one)]
    return Found(
        schedule=found.schedule,
        series=found.series,
        group=found.group,
        among=among,
        looked_at=len(listed.schedules),
        is_cut=listed.is_cut,
    )


def _has_tag(one: Schedule, tag: str) -> bool:
    name, sign, value = tag.partition("=")
    tags = one.tags or {}
    return tags.get(name) == value if sign else name in tags


def _holds(one: Schedule, part: str) -> bool:
    tags = (text for pair in (one.tags or {}).items() for text in pair)
    texts = (one.name or "", one.group or "", kind(one), target(one), *tags)
    return any(part in text.lower() for text in texts)
