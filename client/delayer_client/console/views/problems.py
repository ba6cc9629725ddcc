"""Explains an error as people need it: what it is, and what to do."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve, frozen
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from delayer_client.console.listing.journal import is_off
from delayer_client.console.place import PREFIX
from delayer_client.console.rendering import page, place_in
from delayer_client.errors import (
    DelayerError,
    Expired,
    Invalid,
    NoAnswer,
    NoCredentials,
    NotAllowed,
    NotFound,
    NotUnderstood,
    OverQuota,
    Refused,
    Unavailable,
)


@frozen(kw_only=True)
class Said:
    """A page about an error."""

    status: int
    title: str
    advice: str
    detail: str = ""
    command: str = ""  # that mends it


def said_of(error: Exception, url: str, *, is_local: bool) -> Said:
    """In people's words."""
    if isinstance(error, NoAnswer):
        return _no_answer(error, url, is_local=is_local)
    if isinstance(error, Invalid) and is_off(error):
        return evolve(ONLY_GROUPS, detail=str(error))
    for kind, said in SAID.items():
        if isinstance(error, kind):
            return said if kind is NotFound else evolve(said, detail=str(error))  # a 404 names the paths of the API
    if isinstance(error, Refused):
        return Said(status=error.status, title="The call was refused", advice=str(error))
    return Said(status=500, title="Something went wrong", advice=str(error))


def _no_answer(error: NoAnswer, url: str, *, is_local: bool) -> Said:
    here = "It is not running, or not at this address. Start it, and load this page again."
    return Said(
        status=502,
        title="Delayer does not answer",
        advice=here if is_local else "Check the address, and whether this machine reaches it.",
        detail=f"{url}: {error}",
        command="delayer serve" if is_local else "delayer doctor",
    )


ONLY_GROUPS: Final = Said(
    status=422,
    title="Only groups can be listed here",
    advice="The stack has no journal, or there can be no such group. Ask for one group, on the page of schedules: "
    "/console/schedules?group=orders.",
)
OWN_MISTAKE: Final = Said(
    status=500,
    title="The console has made a mistake",
    advice="It is not known whether what you asked for was done: look at it. What went wrong is in the console's log.",
)
SAID: Final[Mapping[type[Exception], Said]] = {
    NoCredentials: Said(status=502, title="There are no credentials", advice="The API asks for some."),
    NotAllowed: Said(
        status=403,
        title="You may not do this",
        advice="The API knows these credentials and refuses the call, or does not know them. Ask whoever runs the "
        "stack, or start the console with other credentials.",
    ),
    Expired: Said(
        status=410,
        title="It is too long ago",
        advice="Schedules are kept for 29 days after they were due.",
    ),
    NotFound: Said(
        status=404,
        title="There is no such thing here",
        advice="It was never made here, it is forgotten, or it belongs to another owner.",
    ),
    OverQuota: Said(status=429, title="Too many calls", advice="Wait a little, and load this page again."),
    Unavailable: Said(
        status=503,
        title="Delayer cannot answer now",
        advice="It does not reach what it needs, or it is being started. Load this page again in a few seconds.",
        command="delayer doctor",
    ),
    NotUnderstood: Said(
        status=502,
        title="This is not what Delayer answers",
        advice="Perhaps the address is that of something else.",
    ),
}


async def delayer_error(request: Request, error: Exception) -> Response:
    """Of the client."""
    place = place_in(request)
    said = said_of(error, place.url, is_local=place.chooses_owner)
    return page(request, "problem.html", {"said": said}, status=said.status)


async def http_error(request: Request, error: Exception) -> Response:
    """Of the console's own paths."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if request.url.path.startswith(f"{PREFIX}/static/"):  # everybody may ask there: nothing of the stack is shown
        return PlainTextResponse("There is no such file.", status)
    advice = "Begin with what happens now, or search above."
    said = Said(status=status, title="There is no such page" if status == 404 else "This cannot be done", advice=advice)
    return page(request, "problem.html", {"said": said}, status=status)


async def other_error(request: Request, _error: Exception) -> Response:
    """A mistake of the console's own. Its traceback goes to the log of whoever serves it."""
    return page(request, "problem.html", {"said": OWN_MISTAKE}, status=500)


HANDLERS: Final[dict[Any, Any]] = {
    DelayerError: delayer_error,
    HTTPException: http_error,
    Exception: other_error,
}
