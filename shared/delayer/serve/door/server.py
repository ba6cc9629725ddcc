"""uvicorn with the door: on a socket that was bound before anything else began, until it is stopped."""

import errno
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, cast

import uvicorn

from delayer.serve.door.address import Admitted
from delayer.serve.door.application import Door
from delayer.serve.door.connection import BoundedConnection
from delayer.serve.refusal import Refusal

BACKLOG: Final = 2048  # connections that wait to be accepted
PRIVILEGED: Final = 1024


def bound(where: Admitted) -> socket.socket:
    """A socket of this address, which nobody else can have from now on. Port 0 takes one that is free.

    Raises Refusal: with status 1 for a port in use, and for an address that this machine does not have (yet).
    """
    family = socket.AF_INET6 if ip_address(where.host).version == 6 else socket.AF_INET
    also_ipv4 = where.host == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((where.host, where.port), family=family, backlog=BACKLOG, dualstack_ipv6=also_ipv4)
    except PermissionError:
        what = f"Port {where.port} of {where.host} is not for this user"
        do = f"Choose one from {PRIVILEGED} on with --port" if where.port < PRIVILEGED else "Choose another with --port"
        raise Refusal(what=what, do=do) from None
    except OSError as error:
        raise _refusal(where, error) from None


def _refusal(where: Admitted, error: OSError) -> Refusal:
    match error.errno:
        case errno.EADDRINUSE:
            what = f"Port {where.port} of {where.host} is in use by another program"
            return Refusal(what=what, do="Stop that one, or choose another port with --port", status=1)
        case errno.EADDRNOTAVAIL:
            what = f"This machine has no address {where.host}"
            return Refusal(what=what, do="Choose one that it has with --host, or 127.0.0.1", status=1)
        case errno.EAFNOSUPPORT:
            return Refusal(
                what=f"This machine has no IPv6, as {where.host} is", do="Choose an IPv4 address with --host"
            )
    return Refusal(what=f"{where.host} port {where.port} cannot be listened on: {error.strerror}", do="Choose another")


def check_certificate(certificate: Path, key: Path) -> None:
    """Raises Refusal if TLS cannot be done with them."""
    where = f"{certificate}, {key}"
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, _no_password)
    except ssl.SSLError:
        what = "The certificate or its key is no PEM, or they do not belong together, or the key has a password"
        raise Refusal(what=what, where=where, do="Give --tls-cert its chain and --tls-key its key") from None
    except OSError as error:
        what = f"The certificate or its key cannot be read: {error.strerror}"
        raise Refusal(what=what, where=where, do="Give files that are there with --tls-cert and --tls-key") from None


def _no_password() -> str:
    """OpenSSL would ask the terminal for one."""
    return ""


class DoorServer:
    """Serves the door on a socket that is bound, in the thread that calls `run`."""

    def __init__(
        self, door: Door, listening: socket.socket, *, certificate: Path | None = None, key: Path | None = None
    ) -> None:
        if certificate and key:
            check_certificate(certificate, key)
        limits = door.limits
        connection: Any = partial(BoundedConnection, limits=limits)
        self._listening = listening
        self._server = _Quiet(
            uvicorn.Config(
                cast(Any, door),
                http=connection,
                loop="uvloop",
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="error",  # a client that sends no HTTP, or goes away, is no news
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=limits.idle_seconds,
                timeout_graceful_shutdown=int(limits.answer_seconds) + 1,
                ssl_certfile=certificate,
                ssl_keyfile=key,
            )
        )

    @property
    def url(self) -> str:
        """Its address, as a client on this machine may write it."""
        host, port = self._listening.getsockname()[:2]
        scheme = "https" if self._server.config.is_ssl else "http"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serves until `stop`: then no connection is accepted any more, and what is under way is answered.

        `ready` is called as soon as the port answers.
        """
        self._server.ready = ready
        self._server.run(sockets=[self._listening])

    def stop(self) -> None:
        """Ends `run` soon. Any thread may call it, and a signal handler."""
        self._server.should_exit = True


class _Quiet(uvicorn.Server):
    """uvicorn without its signal handlers: whoever stops the engine has more to do than to stop the door."""

    ready: Callable[[], None] = staticmethod(lambda: None)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
