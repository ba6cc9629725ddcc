"""Meters every request of the AWS port, and serves the reading of the meter."""

import json
import re
from collections.abc import Callable

from local.emulator.asgi import Application, Message, Receive, Scope, Send, body_of, respond_json
from local.emulator.metering.meter import Meter, Numbers
from local.emulator.metering.units import READS, Item, read_units, sqs_requests, write_units

METER_PATH = "/_local/meter"
# In the User-Agent of every request of a function whose AWS_SDK_UA_APP_ID is set.
APP_ID = re.compile(r"\bapp/(\S+)")
CREDENTIAL_SERVICE = re.compile(r"Credential=[^/=]+/\d+/[^/=]+/([^/=]+)/")


class Metering:
    """ASGI middleware. `stored` returns the whole stored item for a table's name and an item that was read."""

    def __init__(self, emulator: Application, meter: Meter, api_port: int, stored: Callable[[str, Item], Item]) -> None:
        self.emulator = emulator
        self.meter = meter
        self.api_port = api_port
        self.stored = stored

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request of any port."""
        if scope["type"] != "http" or scope["server"][1] == self.api_port:
            await self.emulator(scope, receive, send)
        elif scope["path"] == METER_PATH:
            await self.serve_reading(scope, send)
        else:
            await self.count(scope, receive, send)

    async def serve_reading(self, scope: Scope, send: Send) -> None:
        """GET returns the reading; DELETE returns it and resets the meter."""
        reading = self.meter.reading()
        if scope["method"] == "DELETE":
            self.meter.reset()
        await respond_json(send, 200, reading)

    async def count(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, and count it after its response."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        caller, operation = caller_of(headers), operation_of(headers, scope["method"])
        body = await body_of(receive)
        response: list[bytes] = []

        async def replay() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def record(message: Message) -> None:
            response.append(message.get("body", b""))
            await send(message)

        await self.emulator(scope, replay, record)
        self.meter.count(caller, operation, **self.units_of(operation, body, b"".join(response)))

    def units_of(self, operation: str, body: bytes, response_body: bytes) -> Numbers:
        """The units of one request."""
        service, _, name = operation.partition(".")
        if service == "sqs":
            return {"billed": sqs_requests(body)}
        if service != "dynamodb":
            return {}
        request, response = json.loads(body or b"{}"), json.loads(response_body or b"{}")
        if name in READS:
            return {"readUnits": read_units(request, response, self.stored)}
        return {"writeUnits": write_units(request, response)}


def caller_of(headers: dict[str, str]) -> str:
    """The function that sent a request; `unknown` for clients outside the stack."""
    found = APP_ID.search(headers.get("user-agent", ""))
    return found.group(1) if found else "unknown"


def operation_of(headers: dict[str, str], method: str) -> str:
    """`service.Operation`, as in `dynamodb.PutItem`; the HTTP method for services that name no operation."""
    found = CREDENTIAL_SERVICE.search(headers.get("authorization", ""))
    service = found.group(1) if found else "unknown"
    return f"{service}.{headers.get('x-amz-target', method).rpartition('.')[2]}"
