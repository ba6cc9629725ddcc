"""On one machine anybody may say who they are: the owner whose schedules are shown."""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delayer_client.console.forms.fields import fields_of
from delayer_client.console.guards.sessions import Message
from delayer_client.console.place import PREFIX
from delayer_client.console.rendering import place_in, say, session_of

LONGEST: Final = 256
NOT_ONE: Final = "That can be no owner: one is 256 printable ASCII characters at most. The owner is still {}."


async def choose(request: Request) -> Response:
    """Chooses the owner whose schedules are shown in this browser from now on. On one machine only."""
    if not place_in(request).chooses_owner:
        raise HTTPException(404)
    owner = (await fields_of(request)).get("owner", "")
    if len(owner) <= LONGEST and owner.isascii() and owner.isprintable():
        session_of(request).owner = owner
    else:
        say(request, Message(kind="bad", text=NOT_ONE.format(session_of(request).owner or "anonymous")))
    return RedirectResponse(PREFIX, 303)


ROUTES: Final = (Route(f"{PREFIX}/owner", choose, methods=["POST"]),)
