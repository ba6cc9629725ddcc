"""A server that answers each request with bytes of the test's own, and tells the connections apart."""

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from attrs import define, field
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"
LENGTH = re.compile(rb"\r\nContent-Length: ([0-9]+)\r\n")
SECONDS = 20  # that nobody waits
Reply = Callable[[bytes], bytes | None]  # None: the connection ends without an answer


@define(eq=False)
class ScriptedServer:
    """On 127.0.0.1, until it is closed."""

    reply: Reply = lambda _: NO_CONTENT
    tls: ssl.SSLContext | None = None
    connections: list[list[bytes]] = field(factory=list)  # for each the pieces that were received
    open: list[socket.socket] = field(factory=list)
    sent: threading.Semaphore = field(factory=lambda: threading.Semaphore(0))  # answers, to their last byte
    ended: threading.Semaphore = field(factory=lambda: threading.Semaphore(0))  # by the other side
    listening: socket.socket = field(factory=lambda: socket.create_server(("127.0.0.1", 0)), init=False)

    @property
    def port(self) -> int:
        """It is free when the server begins."""
        return int(self.listening.getsockname()[1])

    @property
    def requests(self) -> list[int]:
        """How many pieces came over each connection."""
        return [len(pieces) for pieces in self.connections]

    def accept(self) -> None:
        """Each connection in a thread of its own."""
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self.listening.accept()
                pieces: list[bytes] = []
                self.connections.append(pieces)
                threading.Thread(target=self._serve, args=(accepted, pieces), daemon=True).start()

    def _serve(self, accepted: socket.socket, pieces: list[bytes]) -> None:
        accepted.settimeout(SECONDS)
        with contextlib.suppress(OSError):
            if self.tls:
                accepted = self.tls.wrap_socket(accepted, server_side=True)
            self.open.append(accepted)
            while piece := accepted.recv(65_536):
                pieces.append(piece)
                whole = piece
                while not is_whole(whole):
                    whole += accepted.recv(65_536)
                answer = self.reply(whole)
                if answer is None:
                    break
                accepted.sendall(answer)
                self.sent.release()
            else:
                self.ended.release()
        accepted.close()

    def end(self) -> None:
        """All connections, as a server does that has waited long enough."""
        for one in self.open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def is_whole(request: bytes) -> bool:
    """Whether head and body have come."""
    head, end, body = request.partition(b"\r\n\r\n")
    found = LENGTH.search(head + b"\r\n")
    return bool(end) and len(body) >= int(found[1] if found else 0)


@contextlib.contextmanager
def scripted(tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    """It leaves nothing open."""
    server = ScriptedServer(tls=tls)
    threading.Thread(target=server.accept, daemon=True).start()
    try:
        yield server
    finally:
        server.listening.shutdown(socket.SHUT_RDWR)
        server.listening.close()
        server.end()


def certified(name: str, folder: Path) -> Path:
    """A certificate that nobody signed but itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = Encoding.PEM
    path = folder / "certificate.pem"
    secret = key.private_bytes(pem, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(secret + certificate.public_bytes(pem))
    return path


def answer(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
    """With the length of its body, unless the headers say where that ends."""
    given = {"Content-Length": str(len(body))} if headers is None else headers
    lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join((*lines, "", "")).encode() + body
