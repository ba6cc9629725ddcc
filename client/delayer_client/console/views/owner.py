"""On one machine anybody may say who they are: the owner whose schedules are shown."""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delayer_client.console.place import PREFIX
from delayer_client.console.rendering import place_in, session_of
from delayer_client.console.views.forms import fields_of

LONGEST: Final = 256


async def choose(request: Request) -> Response:
    """From now on, in this browser."""
    if not place_in(request).chooses_owner:
        raise HTTPException(404)
    owner = (await fields_of(request)).get("owner", "")[:LONGEST]
    session_of(request).owner = owner if owner.isascii() and owner.isprintable() else ""
    return RedirectResponse(PREFIX, 303)


ROUTES: Final = (Route(f"{PREFIX}/owner", choose, methods=["POST"]),)
