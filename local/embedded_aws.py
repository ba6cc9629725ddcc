"""The process of the embedded AWS: ministack behind our gateway, on 127.0.0.1 only.

local.embedded_process starts it as `python -m local.embedded_aws`. It reads its settings from the environment, since
ministack does: GATEWAY_PORT (the AWS port), DELAYER_API_PORT, DELAYER_LOG_FOLDER, DELAYER_METERING.
"""

import asyncio
import importlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, cast

from hypercorn.asyncio import serve
from hypercorn.config import Config

from local import ministack_patches
from local.deployment import STACK_NAME
from local.errors import LocalStackError
from local.function_logs import FunctionLogs
from local.gateway import Application, Gateway
from local.meter import Item, Meter, Metered, asking_for_capacity
from local.warm_workers import warm_up


class Observers:
    """Hands what the patches observe to the function logs and to the meter, if there is one."""

    def __init__(self, logs: FunctionLogs, meter: Meter | None) -> None:
        self.logs = logs
        self.meter = meter

    def invoked(self, function: str, result: dict[str, Any], seconds: float) -> None:
        """One invocation has ended."""
        self.logs.write(short(function), result.get("log") or "", error=error_of(result))
        if self.meter:
            self.meter.invoked(short(function), result, seconds)

    def mapping_called(self, function: str, operation: str) -> None:
        """An event source mapping made one SQS request."""
        if self.meter:
            self.meter.mapping_called(short(function), operation)


def short(function: str) -> str:
    """A function's name without its stack's: that of its folder, and the caller in its User-Agent."""
    return function.removeprefix(f"{STACK_NAME}-")


def error_of(result: dict[str, Any]) -> str:
    """The message of a failed invocation, or nothing."""
    body = result.get("body")
    return str(body.get("errorMessage", "")) if result.get("error") and isinstance(body, dict) else ""


def application(aws_port: int, api_port: int, log_folder: Path, metering: bool) -> Application:
    """The ASGI application: gateway, meter if wanted, corrected ministack."""
    meter = Meter() if metering else None
    logs = FunctionLogs(log_folder)
    ministack_patches.install(Observers(logs, meter))
    embedded_aws = cast(Application, importlib.import_module("ministack.app").app)
    if meter:
        answer_capacity(importlib.import_module("ministack.services.dynamodb"))
        embedded_aws = Metered(embedded_aws, meter, aws_port, stored_item)

    def prepare() -> str:
        failed: dict[str, str] = {}
        warm_up(failed.__setitem__)
        for name, reason in failed.items():
            logs.write(short(name), "", reason)
        return "; ".join(f"{short(name)} cannot start: {reason}" for name, reason in sorted(failed.items()))

    return Gateway(embedded_aws, api_port, prepare)


def answer_capacity(dynamodb: Any) -> None:
    """Have every DynamoDB request answered with its consumed capacity; behind the check of its signature."""
    handle = dynamodb.handle_request

    async def asked(method: str, path: str, headers: Any, body: bytes, query: Any) -> Any:
        return await handle(method, path, headers, asking_for_capacity(body), query)

    dynamodb.handle_request = asked


def stored_item(table_name: str, item: Item) -> Item:
    """The whole item behind a projected one, because reads are billed by the whole; itself if it lacks the key."""
    dynamodb = importlib.import_module("ministack.services.dynamodb")
    table = dynamodb._tables.get(table_name)
    if not table or not {table["pk_name"], table["sk_name"] or table["pk_name"]} <= item.keys():
        return item
    return dynamodb._get_item_by_key(table, item) or item


def end_with_parent() -> None:
    """End this process and its Lambda workers when the runner has gone, however it went.

    The runner holds the other end of standard input, so that even its SIGKILL ends the reading here.
    """
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Serve until the runner ends this process."""
    threading.Thread(target=end_with_parent, daemon=True, name="end-with-parent").start()
    aws_port, api_port = int(os.environ["GATEWAY_PORT"]), int(os.environ["DELAYER_API_PORT"])
    config = Config()
    config.bind = [f"127.0.0.1:{aws_port}", f"127.0.0.1:{api_port}"]
    config.backlog = 1024
    config.keep_alive_timeout = 75
    config.loglevel = os.environ.get("LOG_LEVEL", "WARNING")
    try:
        log_folder = Path(os.environ["DELAYER_LOG_FOLDER"])
        app = application(aws_port, api_port, log_folder, bool(os.environ.get("DELAYER_METERING")))
        asyncio.run(serve(cast(Any, app), config))
    except (LocalStackError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
