"""Lists of schedules, page by page, and the search."""

from datetime import timedelta
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delayer_client.api.models import Schedule
from delayer_client.asynchronous.client import AsyncDelayer
from delayer_client.console.listing.finding import Found, find
from delayer_client.console.place import PREFIX
from delayer_client.console.rendering import page, place_in, session_of
from delayer_client.console.words.schedules import link, series_link
from delayer_client.states import STATES, is_retried

LENGTH: Final = 200  # schedules of a page: two of the API's
FROM: Final = {
    "": ("the last 29 days on", None),
    "hour": ("the last hour on", timedelta(hours=-1)),
    "now": ("now on", timedelta()),
    "day": ("tomorrow on", timedelta(days=1)),
}


async def show(request: Request) -> Response:
    """Schedules in due order, 200 on a page, by their state, group and time; or only those that are retried."""
    given = {name: request.query_params.get(name, "") for name in ("state", "retried", "group", "from", "cursor")}
    if given["state"] == "retrying":  # in bookmarks: it was a state of the console
        given |= {"state": "", "retried": "yes"}
    place = place_in(request)
    begin = FROM.get(given["from"], FROM[""])[1]
    listed, cursor = await _page(
        place.of(session_of(request).owner),
        state=given["state"] or None,  # the API says so if it has no such state
        retried=bool(given["retried"]),
        group=given["group"] or None,
        since=None if begin is None else place.now() + begin,
        cursor=given["cursor"] or None,
    )
    context = {"listed": listed, "cursor": cursor, "given": given, "states": STATES, "begins": FROM}
    return page(request, "schedules.html", context, here="schedules")


async def _page(
    client: AsyncDelayer, *, cursor: str | None, state: str | None, retried: bool, **asked: Any
) -> tuple[list[Schedule], str | None]:
    """Two pages of the API: the second needs the cursor of the first."""
    found: list[Schedule] = []
    wanted = state or ("claimed" if retried else None)
    for _ in range(2):
        part = await client.page(page_size=LENGTH // 2, cursor=cursor, state=wanted, **asked)
        found += (one for one in part.schedules if is_retried(one) or not retried)
        cursor = part.next_cursor
        if not cursor:
            break
    return found, cursor


async def search(request: Request) -> Response:
    """Searches for a text among ids, names, groups, tags and hosts; if only one schedule or series fits, it shows its
    own page.
    """
    text = request.query_params.get("q", "").strip()
    if not text:
        return RedirectResponse(f"{PREFIX}/schedules", 303)
    place = place_in(request)
    found = await find(place.of(session_of(request).owner), text, place.now())
    if leads_to := _only(found):
        return RedirectResponse(leads_to, 303)
    return page(request, "search.html", {"found": found, "query": text}, here="search")


def _only(found: Found) -> str | None:
    if found.schedule and not (found.series or found.group or found.series_among or len(found.among) > 1):
        return link(found.schedule.id)
    if found.series and not (found.schedule or found.group or found.among or found.series_among):
        return series_link(found.series.id)
    return None


ROUTES: Final = (Route(f"{PREFIX}/schedules", show), Route(f"{PREFIX}/search", search))
