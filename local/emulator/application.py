"""Puts the emulator together: ministack with its corrections, the optional meter, and the two ports in front."""

import importlib
from pathlib import Path
from typing import cast

from local.emulator.access.awaited_answers import AwaitedAnswers
from local.emulator.access.issued_keys import IssuedKeys
from local.emulator.access.signatures import Signatures
from local.emulator.asgi import Application, Receive, Scope, Send
from local.emulator.aws_port import AwsPort, Serve
from local.emulator.console.first_request import console
from local.emulator.function_logs import FunctionLogs
from local.emulator.gateway import Gateway
from local.emulator.metering.meter import Meter
from local.emulator.metering.middleware import Metering
from local.emulator.metering.ministack_tables import request_capacity, stored_item
from local.emulator.observer import LogsAndMeter, folder_of
from local.emulator.patches.install import install
from local.emulator.processes.warm_up import warm_up
from local.key_pair import EXPORTS, KeyPair


def application(api_port: int, log_folder: Path, metering: bool, pair: KeyPair) -> Application:
    """The ASGI application that serves both ports. `pair` may do everything at the AWS port."""
    logs = FunctionLogs(log_folder)
    meter = Meter() if metering else None
    install(LogsAndMeter(logs, meter))
    emulator = cast(Application, importlib.import_module("ministack.app").app)
    if meter:
        request_capacity()
        emulator = Metering(emulator, meter, api_port, stored_item)
    gateway = Gateway(emulator, prepare=lambda: start_functions(logs), console=console(api_port))
    exports = f".local/{api_port}/{EXPORTS}"
    own: dict[str, Serve] = {"/_local/api": gateway.open_api, "/_local/functions": gateway.start_functions}
    aws = AwsPort(emulator, own, Signatures(IssuedKeys(pair).secret_of), exports, AwaitedAnswers().awaits)
    return Ports(api_port, gateway, aws, emulator)


class Ports:
    """ASGI application that sends each request to the application of its port.

    A web page may open a WebSocket to any address. Nothing here needs one, so each is closed before it is open.
    """

    def __init__(self, api_port: int, api: Application, aws: Application, emulator: Application) -> None:
        self.api_port = api_port
        self.api = api
        self.aws = aws
        self.emulator = emulator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the start and end of the server (ASGI's lifespan)."""
        match scope["type"]:
            case "lifespan":
                await self.emulator(scope, receive, send)
            case "http":
                application = self.api if scope["server"][1] == self.api_port else self.aws
                await application(scope, receive, send)
            case _:
                await send({"type": "websocket.close", "code": 1008})


def start_functions(logs: FunctionLogs) -> str:
    """Start every function; the names and reasons of those that cannot start, which also go into their logs."""
    failed: dict[str, str] = {}
    warm_up(failed.__setitem__)
    for name, reason in failed.items():
        logs.write(folder_of(name), "", reason)
    return "; ".join(f"{folder_of(name)} cannot start: {reason}" for name, reason in sorted(failed.items()))
