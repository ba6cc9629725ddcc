"""Pages from templates."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from delayer_client.console.guards.sessions import Message, Session
from delayer_client.console.place import PREFIX, Place
from delayer_client.console.words import numbers, schedules, times
from delayer_client.states import has_fired, is_retried, next_time, own_lateness, retry_in_words

FOLDER: Final = Path(__file__).parent


@cache
def environment() -> Environment:
    """Everything is escaped; a name that is not there is an error, not an empty text."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "moment": times.moment,
        "clock": times.clock,
        "stored": times.stored,
        "ahead": times.ahead,
        "lateness": numbers.lateness,
        "own_lateness": own_lateness,
        "number": numbers.grouped,
        "pretty": schedules.pretty,
        "target": schedules.target,
        "kind": schedules.kind,
        "short": schedules.short,
        "link": schedules.link,
        "series_link": schedules.series_link,
    }
    made.globals |= {
        "prefix": PREFIX,
        "is_retried": is_retried,
        "retry_in_words": retry_in_words,
        "next_time": next_time,
        "has_fired": has_fired,
        "labels": schedules.labels,
    }
    return made


def place_in(request: Request) -> Place:
    """The stack that the request is about."""
    found: Place = request.app.state.place
    return found


def session_of(request: Request) -> Session:
    """Of the browser that asks."""
    found: Session = request.scope["session"]
    return found


def say(request: Request, message: Message) -> None:
    """Shown with the next page."""
    session_of(request).messages.append(message)


def page(
    request: Request, template: str, context: Mapping[str, Any], *, status: int = 200, here: str = ""
) -> HTMLResponse:
    """A page. `here` is its place in the navigation."""
    place, session = place_in(request), session_of(request)
    is_renewal = "hx-request" in request.headers  # takes a part of the page, and not the one that has the messages
    given = {
        "here": here,
        "now": place.now(),
        "place": place,
        "owner": session.owner,
        "query": "",
        "messages": [] if is_renewal else session.take_messages(),
        **context,
    }
    return HTMLResponse(environment().get_template(template).render(given), status)
