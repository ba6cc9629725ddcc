"""Starts the functions' processes ahead of their first invocation, as a busy account would have it."""

import importlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# As many as may run at once (RelayConcurrency, ExecutorConcurrency on one machine): what starts only when a burst is
# due makes it seconds late.
WORKERS_AT_ONCE = {"delayer-delayer-relay": 10, "delayer-executor-http-request": 10}
Failed = Callable[[str, str], None]


def warm_up(failed: Failed) -> None:
    """Start workers for every function and wait; `failed(function, reason)` is told of what cannot start.

    As many at a time as there are processors: all at once would slow each other down.
    """
    lambda_service: Any = importlib.import_module("ministack.services.lambda_svc")
    with ThreadPoolExecutor(os.cpu_count()) as starters:
        for _scope, function in lambda_service._functions.all_items():
            name = function["config"]["FunctionName"]
            starters.submit(start_workers, name, function, WORKERS_AT_ONCE.get(name, 1), failed)


def start_workers(name: str, function: dict[str, Any], count: int, failed: Failed) -> None:
    """Start workers of one function until it has this many."""
    runtime: Any = importlib.import_module("ministack.core.lambda_runtime")
    leased = []
    try:
        for _ in range(count):
            worker, reason = runtime.acquire_worker(name, function["config"], function["code_zip"])
            leased.append(worker)
            if reason == "spawn":
                worker._spawn()
    except Exception as error:  # noqa: BLE001 - whatever a function's code raises when it is imported
        failed(name, str(error))
    finally:
        for worker in leased:
            runtime.release_worker(worker)
