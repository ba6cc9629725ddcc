"""Series: the rule in words, its next times, its occurrences; pause, resume, run now."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import groupby
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delayer_client.api.models import Schedule, Series, Times
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.console.forms.fields import fields_of
from delayer_client.console.forms.questions import Question, asked
from delayer_client.console.guards.sessions import Message
from delayer_client.console.listing import figures
from delayer_client.console.place import PREFIX
from delayer_client.console.rendering import page, place_in, say, session_of
from delayer_client.console.words.numbers import counted
from delayer_client.console.words.schedules import series_link, short
from delayer_client.errors import Conflict, DelayerError, NoAnswer

NEXT: Final = 10
OCCURRENCES: Final = 50
STATES: Final = ("active", "paused", "waiting", "ended", "failed", "cancelled")


async def show_all(request: Request) -> Response:
    """The series, a hundred on a page, by their state."""
    given = {name: request.query_params.get(name, "") for name in ("state", "cursor")}
    client = place_in(request).of(session_of(request).owner)
    state = given["state"] if given["state"] in STATES else None
    found = await client.series.page(state=state, page_size=100, cursor=given["cursor"] or None)
    context = {"listed": found.series, "cursor": found.next_cursor, "given": given, "states": STATES}
    return page(request, "series_list.html", context, here="series")


async def show(request: Request) -> Response:
    """One series: its rule in words, its next ten times on a calendar strip, its latest occurrences."""
    client = place_in(request).of(session_of(request).owner)
    series_id = request.path_params["id"]
    one = await client.series.get(series_id)
    following, occurrences = await asyncio.gather(_following(client, one), _occurrences(client, one))
    context = {
        "one": one,
        "days": days(following, one),
        "zone": zone_of(one)[1],
        "occurrences": occurrences,
        "lateness": figures.lateness(occurrences or ()),
        "can_pause": one.state in ("active", "waiting"),
        "can_resume": one.state == "paused",
        "can_run": one.state in ("active", "waiting"),
    }
    return page(request, "series.html", context, here="series")


async def _following(client: AsyncDelayer, one: Series) -> Times | None:
    if one.state in ("ended", "cancelled", "failed"):
        return None
    try:
        return await client.series.next(one.id, NEXT)
    except Conflict:
        return None


async def _occurrences(client: AsyncDelayer, one: Series) -> list[Schedule] | None:
    """The latest first; None without a journal."""
    found: list[Schedule] = []
    try:
        async for occurrence in client.series.occurrences(one.id, page_size=OCCURRENCES):
            found.append(occurrence)
            if len(found) >= OCCURRENCES:
                break
    except Conflict:
        return None
    return found


def zone_of(one: Series) -> tuple[Any, str]:
    """By whose clock its times are shown, and its name."""
    name = (one.repeat.time_zone if one.repeat else None) or "UTC"
    try:
        return ZoneInfo(name), name
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC"), "UTC"


def days(following: Times | None, one: Series) -> list[dict[str, Any]]:
    """The next times by their days, on the clock of its rule."""
    zone = zone_of(one)[0]
    local = [at.astimezone(zone) for at in following.times] if following else []
    return [
        {"date": date, "weekend": date.weekday() >= 5, "times": list(times)}
        for date, times in groupby(local, key=lambda at: at.date())
    ]


async def pause(client: AsyncDelayer, series_id: str) -> Message:
    """Pauses it, and says what will not be handed over, and what was."""
    done = await client.series.pause(series_id)
    left = f" {counted(len(done.claimed), 'occurrence')} had been handed over, or had ended." if done.claimed else ""
    stopped = counted(len(done.cancelled), "occurrence")
    return Message(kind="good", text=f"Paused. {stopped} will not be handed over.{left}")


async def resume(client: AsyncDelayer, series_id: str) -> Message:
    """Lets it go on with the first time that is still to come."""
    done = await client.series.resume(series_id)
    missed = f" {counted(done.missed, 'time')} passed meanwhile and will not be made up." if done.missed else ""
    return Message(kind="good", text=f"Resumed.{missed}")


async def run_now(client: AsyncDelayer, series_id: str) -> Message:
    """Puts one occurrence that is due at once, beside the current one."""
    done = await client.series.run_now(series_id)
    return Message(kind="good", text=f"One occurrence is due at once: {done.schedule_id}.")


Does = Callable[[AsyncDelayer, str], Awaitable[Message]]
ACTIONS: Final[dict[str, Does]] = {"pause": pause, "resume": resume, "run-now": run_now}


def _question(one: Series) -> Question:
    return Question(
        what="run-now",
        verb="Run an occurrence now of",
        button="Run it now",
        name=one.name or short(one.id),
        id=one.id,
        back=series_link(one.id),
        effect="One occurrence is due at once, beside the current one. What has fired cannot be taken back.",
    )


async def act(request: Request) -> Response:
    """Steers a series, after a question where that cannot be undone, and shows it with what came of that."""
    series_id, does = request.path_params["id"], ACTIONS.get(request.path_params["what"])
    if does is None:
        raise HTTPException(404)
    client, what = place_in(request).of(session_of(request).owner), request.path_params["what"]
    try:
        if what == "run-now" and not (await fields_of(request)).get("sure"):
            return asked(request, _question(await client.series.get(series_id)), "series")
        message = await does(client, series_id)
    except NoAnswer as error:
        message = Message(kind="bad", text=str(error))
    except DelayerError as error:
        message = Message(kind="bad", text=f"Nothing was changed. {error}")
    say(request, message)
    return RedirectResponse(series_link(series_id), 303)


ROUTES: Final = (
    Route(f"{PREFIX}/series", show_all),
    Route(f"{PREFIX}/series/{{id}}", show),
    Route(f"{PREFIX}/series/{{id}}/{{what}}", act, methods=["POST"]),
)
