"""Every page of the console, from its routes and what their functions say of themselves."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from starlette.routing import Route

from delayer_client.console.application import ROUTES
from delayer_client.console.views import deeds, series
from docs.hooks.reference.text import sentence

# What is done by a form has a route for several: the last part of the path says which.
CHOICES: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "/console/schedules/{id}/{what}": deeds.DEEDS,
    "/console/series/{id}/{what}": series.ACTIONS,
}


def pages() -> str:
    """First what is shown, then what a form does."""
    shown = [route for route in ROUTES if method(route) == "GET" and not is_again(route)]
    done = [route for route in ROUTES if method(route) == "POST"]
    return f"## What is shown\n\n{sections(shown)}\n## What a form does\n\n{sections(done)}"


def method(route: Route) -> str:
    """GET or POST."""
    return "POST" if "POST" in (route.methods or ()) else "GET"


def is_again(route: Route) -> bool:
    """The same page with a slash at the end."""
    return bool(route.path.endswith("/"))


def sections(routes: list[Route]) -> str:
    """One for each."""
    return "\n".join(map(section, routes))


def section(route: Route) -> str:
    """Its path, and what its function says."""
    choices = CHOICES.get(route.path, {})
    lines = [f"- `{name}`: {said(function)}" for name, function in choices.items()]
    listing = "\n" + "\n".join(lines) + "\n" if lines else ""
    return f"### `{method(route)} {route.path}`\n\n{said(route.endpoint)}\n{listing}"


def said(function: Callable[..., Any]) -> str:
    """Its docstring."""
    return sentence(inspect.getdoc(function) or "")
