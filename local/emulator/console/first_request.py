"""The console beside the API, which is imported when it is asked for first: so the stack starts no later for it."""

import sys

from delayer.serve.door.when_asked import MadeWhenAsked
from local.emulator.asgi import Application
from local.project import PROJECT

PREFIX = "/console"


def is_console(path: str) -> bool:
    """Whether a path is one of the console's."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def console(port: int) -> Application:
    """ASGI application. It has guards of its own, because a link from elsewhere may open it."""
    return MadeWhenAsked(lambda: made(port))


def made(port: int) -> Application:
    """Of this checkout, whichever one the environment has installed."""
    folder = str(PROJECT / "client")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from delayer_client.console import application, place_of
    from delayer_client.transport.credentials import Nothing

    return application(place_of(f"http://localhost:{port}", credentials=Nothing()))
