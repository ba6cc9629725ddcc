"""`delayer console`: a server of its own, of this machine alone."""

import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import Final

from delayer_client.console.application import application
from delayer_client.console.guards.sessions import Sessions
from delayer_client.console.place import PREFIX, place_of
from delayer_client.transport.credentials import Credentials

LOOPBACK: Final = "127.0.0.1"
SOON: Final = 0.5  # seconds, until the server answers


def serve(
    *,
    url: str | None = None,
    credentials: Credentials | None = None,
    owner: str | None = None,
    port: int = 0,
    open_browser: bool = True,
    stack: str = "delayer",
    profile: str = "",
    region: str = "",
    say: Callable[[str], None] = print,
) -> None:
    """Serves the console until Ctrl-C. `port` 0 takes a free one.

    `stack`, `profile` and `region` are for the operator functions. The address has a token that can be used once. The
    browser gets no credentials: this process signs for it. Raises OSError if the port is taken, NoCredentials,
    WrongArgument.
    """
    import uvicorn

    where = url or os.environ.get("DELAYER_URL")
    place = place_of(where, credentials=credentials, stack=stack, profile=profile, region=region)
    token = secrets.token_urlsafe(32)
    listening = socket.create_server((LOOPBACK, port))
    address = f"http://{LOOPBACK}:{listening.getsockname()[1]}{PREFIX}?token={token}"
    app = application(place, Sessions(token=token, owner=owner or os.environ.get("DELAYER_OWNER") or ""))
    place.of(owner or "")  # credentials that are missing are said here, not in the browser
    say(f"The console of {place.url} is at {address}\nThe address can be used once. Ctrl-C ends it.")
    if open_browser:
        threading.Timer(SOON, webbrowser.open, [address]).start()
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none"
    )
    uvicorn.Server(config).run(sockets=[listening])
