"""Clients that cost little: many connections of one thread, each of which sends the same request again and again."""

import asyncio
import time
from statistics import median

from bench.load.calls import Call
from bench.load.throughput import Throughput
from local.errors import EmulatorError

HEAD_END = b"\r\n\r\n"


def bytes_of(call: Call) -> bytes:
    """The request as it is sent."""
    body = (call.body or "").encode()
    headers = {"Host": "127.0.0.1", **call.headers, **({"Content-Length": str(len(body))} if body else {})}
    lines = [f"{call.method} {call.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + HEAD_END + body


class RawClient:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, request: bytes) -> tuple[int, bytes]:
        """The status and the body of the response."""
        self.writer.write(request)
        head = await self.reader.readuntil(HEAD_END)
        size = next(int(one[15:]) for one in head.lower().split(b"\r\n") if one.startswith(b"content-length:"))
        return int(head[9:12]), await self.reader.readexactly(size)


async def connected(port: int) -> RawClient:
    """A new connection."""
    return RawClient(*await asyncio.open_connection("127.0.0.1", port))


def call_for(port: int, call: Call, clients: int, seconds: float) -> Throughput:
    """So many clients, each with one call after the other. EmulatorError if one is not answered as expected."""
    request, taken, failed = bytes_of(call), list[float](), list[str]()

    async def one(deadline: float) -> None:
        client = await connected(port)
        while (began := time.monotonic()) < deadline:
            status, body = await client.send(request)
            taken.append(time.monotonic() - began)
            if status != call.expected:
                failed.append(f"{status}: {body[:200]!r}")
        client.writer.close()

    async def all_of_them() -> float:
        began = time.monotonic()
        await asyncio.gather(*(one(began + seconds) for _ in range(clients)))
        return time.monotonic() - began

    lasted = asyncio.run(all_of_them())
    if failed:
        raise EmulatorError(f"{call.method} {call.path} failed {len(failed)} times: {failed[0]}.")
    return Throughput(
        clients=clients, calls=len(taken), failed=0, per_second=len(taken) / lasted, p50_ms=median(taken) * 1000
    )


def call_all(port: int, wanted: list[Call], clients: int) -> list[bytes]:
    """The bodies of the responses, in the order of the calls. EmulatorError for an unexpected one."""
    found, left = [b""] * len(wanted), iter(range(len(wanted)))

    async def one() -> None:
        client = await connected(port)
        for at in left:
            status, found[at] = await client.send(bytes_of(wanted[at]))
            if status != wanted[at].expected:
                raise EmulatorError(f"{wanted[at].method} {wanted[at].path} failed: {status}: {found[at][:200]!r}.")
        client.writer.close()

    async def all_of_them() -> None:
        await asyncio.gather(*(one() for _ in range(clients)))

    asyncio.run(all_of_them())
    return found
