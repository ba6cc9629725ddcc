"""The ASGI application: which page is at which path."""

from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from delayer_client.console.guards.guard import Guard
from delayer_client.console.guards.sessions import Sessions
from delayer_client.console.place import PREFIX, Place
from delayer_client.console.views import dead_letters, now, owner, problems, schedule, schedules, series

STATIC: Final = f"{PREFIX}/static/"
FILES: Final = Path(__file__).parent / "static"
ROUTES: Final = (
    Route(PREFIX, now.show),
    Route(f"{PREFIX}/", now.show),
    *schedules.ROUTES,
    *schedule.ROUTES,
    *series.ROUTES,
    *dead_letters.ROUTES,
    *owner.ROUTES,
)


def application(place: Place, sessions: Sessions | None = None) -> ASGIApp:
    """Everything below /console. With a token in `sessions`, a browser needs it once to get in."""
    app = Starlette(
        routes=[*ROUTES, Mount(STATIC.rstrip("/"), StaticFiles(directory=FILES))],
        exception_handlers=problems.HANDLERS,
    )
    app.router.redirect_slashes = False
    app.state.place = place
    return Guard(app, sessions or Sessions(), STATIC)
