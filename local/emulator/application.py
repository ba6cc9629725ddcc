"""Puts the emulator together: ministack with its corrections, the optional meter, and the gateway in front."""

import importlib
from pathlib import Path
from typing import cast

from local.emulator.asgi import Application
from local.emulator.function_logs import FunctionLogs
from local.emulator.gateway import Gateway
from local.emulator.metering.meter import Meter
from local.emulator.metering.middleware import Metering
from local.emulator.metering.ministack_tables import request_capacity, stored_item
from local.emulator.observer import LogsAndMeter, folder_of
from local.emulator.patches.install import install
from local.emulator.warm_workers import warm_up


def application(aws_port: int, api_port: int, log_folder: Path, metering: bool) -> Application:
    """The ASGI application that serves both ports."""
    logs = FunctionLogs(log_folder)
    meter = Meter() if metering else None
    install(LogsAndMeter(logs, meter))
    emulator = cast(Application, importlib.import_module("ministack.app").app)
    if meter:
        request_capacity()
        emulator = Metering(emulator, meter, aws_port, stored_item)
    return Gateway(emulator, api_port, prepare=lambda: start_functions(logs))


def start_functions(logs: FunctionLogs) -> str:
    """Start every function; the names and reasons of those that cannot start, which also go into their logs."""
    failed: dict[str, str] = {}
    warm_up(failed.__setitem__)
    for name, reason in failed.items():
        logs.write(folder_of(name), "", reason)
    return "; ".join(f"{folder_of(name)} cannot start: {reason}" for name, reason in sorted(failed.items()))
