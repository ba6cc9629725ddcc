"""Now: what is due, what has fired and how late, what fails, what waits and why."""

import asyncio
import json
from datetime import datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from delayer_client.api.models import Schedule
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.console.listing import figures
from delayer_client.console.listing.looked_up import looked_up
from delayer_client.console.listing.recent import AT_MOST, Listed, between, recent
from delayer_client.console.listing.whole_stack import Watch, WholeStack
from delayer_client.console.pictures.axis import axis, span_of
from delayer_client.console.rendering import page, place_in, session_of
from delayer_client.console.words.schedules import kind

AHEAD: Final = 300  # of the 1,000
BARS: Final = 48
SHOWN: Final = 8


async def show(request: Request) -> Response:
    """The page; with htmx, the part of it that changes."""
    place = place_in(request)
    if not hasattr(request.app.state, "watch"):
        request.app.state.watch = Watch(place)
    client, now = place.of(session_of(request).owner), place.now()
    past, ahead, whole = await asyncio.gather(
        recent(client, now, AT_MOST - AHEAD), between(client, now, None, AHEAD), request.app.state.watch.look()
    )
    content = await _content(client, now, past, ahead, whole)
    is_live = request.query_params.get("live", "on") != "off"
    return page(request, "now.html", {**content, "is_live": is_live}, here="now")


async def _content(
    client: AsyncDelayer, now: datetime, past: Listed, ahead: Listed, whole: WholeStack
) -> dict[str, Any]:
    everything = [*past.schedules, *ahead.schedules]
    failed, waiting = await asyncio.gather(
        looked_up(client, _unknown([one for one in past.schedules if figures.has_failed(one)])),
        looked_up(client, [one for one in everything if figures.waits(one, now)]),
    )
    known = {one.id: one for one in (*failed, *waiting)}
    past_known = [known.get(one.id, one) for one in past.schedules]
    due = [one for one in ahead.schedules if one.state in ("scheduled", "enqueued", "undecided", "claimed")]
    times = [one.point_in_time for one in due if one.point_in_time]
    end = now + span_of(now, times)
    fired = figures.fired(past_known)
    return {
        "due": due[:SHOWN],
        "due_number": len(due),
        "due_cut": ahead.is_cut,
        "due_later": sum(at >= end for at in times),
        "axis": axis(figures.bars(due, now, end, BARS)) if due else None,
        "fired": fired[: -SHOWN - 1 : -1],
        "lateness": figures.lateness(past_known),
        "points": _points(fired),
        "failing": figures.failing(past_known),
        "waiting": [one for one in waiting if figures.waits(one, now)],
        "past": past,
        "listed": len(everything),
        "whole": whole,
        "is_empty": not everything,
    }


def _unknown(listed: list[Schedule]) -> list[Schedule]:
    """Those whose action the list did not tell."""
    return [one for one in listed if not kind(one)]


def _points(fired: list[Schedule]) -> str:
    """When each was due, in seconds, and how late it was, in milliseconds: for the chart."""
    pairs = [(one.point_in_time.timestamp(), one.lateness_ms) for one in fired if one.point_in_time]
    return json.dumps([[at for at, _ in pairs], [late for _, late in pairs]])
