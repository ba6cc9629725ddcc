"""Now: what is due, what has fired and how late, what fails, what waits and why."""

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from attrs import frozen
from starlette.requests import Request
from starlette.responses import Response

from delayer_client.api.models import Schedule
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.console.listing import figures, journal
from delayer_client.console.listing.looked_up import looked_up
from delayer_client.console.listing.recent import AT_MOST, Listed, between, recent
from delayer_client.console.listing.unended import Unended
from delayer_client.console.listing.whole_stack import Watch
from delayer_client.console.pictures.axis import axis, span_of
from delayer_client.console.rendering import page, place_in, session_of
from delayer_client.console.words.schedules import kind
from delayer_client.errors import Invalid
from delayer_client.states import LIVE

AHEAD: Final = 300  # of the 1,000
BARS: Final = 48
SHOWN: Final = 8


@frozen(kw_only=True)
class Seen:
    """The contents of the lists. `unended` was due before `past` begins, and has not ended."""

    past: Listed
    ahead: Listed
    unended: Listed

    @property
    def everything(self) -> list[Schedule]:
        """In due order."""
        return [*self.unended.schedules, *self.past.schedules, *self.ahead.schedules]


async def show(request: Request) -> Response:
    """Shows the next due schedules on an axis of time, those that fired and how late they were, those that fail, and
    those that wait and why.

    It renews itself every ten seconds.
    """
    place, state = place_in(request), request.app.state
    if not hasattr(state, "watch"):
        state.watch, state.unended = Watch(place), Unended()
    owner, now = session_of(request).owner, place.now()
    client = place.of(owner)
    seen, whole = await asyncio.gather(_seen(client, now, owner, state.unended), state.watch.look())
    content = await _content(client, now, seen) if seen else {"unlisted": journal.SENTENCE, "is_empty": False}
    is_live = request.query_params.get("live", "on") != "off"
    return page(request, "now.html", {**content, "whole": whole, "is_live": is_live}, here="now")


async def _seen(client: AsyncDelayer, now: datetime, owner: str, unended: Unended) -> Seen | None:
    """None where nothing can be listed."""
    try:
        past, ahead, older = await asyncio.gather(
            recent(client, now, AT_MOST - AHEAD), between(client, now, None, AHEAD), unended.look(owner, client, now)
        )
    except Invalid as error:
        if journal.is_off(error):
            return None
        raise
    known = {one.id for one in (*past.schedules, *ahead.schedules)}
    before = [one for one in older.schedules if one.id not in known and _is_before(one, past.since)]
    return Seen(past=past, ahead=ahead, unended=Listed(schedules=before, is_cut=older.is_cut))


def _is_before(one: Schedule, since: datetime | None) -> bool:
    """Leaves out schedules that were due later: the fresh list tells better about them."""
    return not (since and one.point_in_time and one.point_in_time >= since)


async def _content(client: AsyncDelayer, now: datetime, seen: Seen) -> dict[str, Any]:
    everything = seen.everything
    waiting = [one for one in everything if figures.waits(one, now)]
    unknown = [one for one in everything if figures.has_failed(one) and not kind(one)]
    failed, explained = await asyncio.gather(looked_up(client, unknown[::-1]), looked_up(client, waiting))
    known = {one.id: one for one in (*failed, *explained)}
    past = [known.get(one.id, one) for one in seen.past.schedules]
    unended = [known.get(one.id, one) for one in seen.unended.schedules]
    fired, still = figures.fired(past), [one for one in explained if figures.waits(one, now)]
    return {
        **_due(seen.ahead, now),
        "fired": fired[: -SHOWN - 1 : -1],
        "lateness": figures.lateness(past),
        "points": _points(fired),
        "failing": figures.failing([*unended, *past]),
        "waiting": still,
        "waiting_number": len(waiting) - len(explained) + len(still),
        "past": seen.past,
        "unended": seen.unended,
        "listed": len(seen.past.schedules) + len(seen.ahead.schedules),
        "is_empty": not everything,
        "unlisted": "",
    }


def _due(ahead: Listed, now: datetime) -> dict[str, Any]:
    due = [one for one in ahead.schedules if one.state in LIVE]
    times = [one.point_in_time for one in due if one.point_in_time]
    end = now + span_of(now, times)
    return {
        "due": due[:SHOWN],
        "due_number": len(due),
        "due_cut": ahead.is_cut,
        "due_later": sum(at >= end for at in times),
        "axis": axis(figures.bars(due, now, end, BARS)) if due else None,
    }


def _points(fired: Sequence[Schedule]) -> str:
    """When each was due, in seconds, and how late it was, in milliseconds: for the chart."""
    pairs = [(one.point_in_time.timestamp(), one.lateness_ms) for one in fired if one.point_in_time]
    return json.dumps([[at for at, _ in pairs], [late for _, late in pairs]])
