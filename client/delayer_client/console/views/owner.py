"""On one machine anybody may say who they are: the owner whose schedules are shown."""

from typing import Final

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delayer_client.console.place import PREFIX
from delayer_client.console.rendering import place_in, session_of

LONGEST: Final = 256


def field(form: FormData, name: str) -> str:
    """The text of a field of a form."""
    value = form.get(name, "")
    return value.strip() if isinstance(value, str) else ""


async def choose(request: Request) -> Response:
    """From now on, in this browser."""
    if not place_in(request).chooses_owner:
        raise HTTPException(404)
    async with request.form() as form:
        owner = field(form, "owner")[:LONGEST]
    session_of(request).owner = owner if owner.isascii() and owner.isprintable() else ""
    return RedirectResponse(PREFIX, 303)


ROUTES: Final = (Route(f"{PREFIX}/owner", choose, methods=["POST"]),)
