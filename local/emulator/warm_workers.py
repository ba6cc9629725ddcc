"""Starts the functions' processes before their first invocation, so that they are as warm as in a busy account."""

import importlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# As many as may run at once (RelayConcurrency and ExecutorConcurrency on one machine). If they were started only when
# a burst is due, the burst would be seconds late.
WORKERS_AT_ONCE = {"delayer-delayer-relay": 10, "delayer-executor-http-request": 10}
OnFailure = Callable[[str, str], None]  # function, reason


def warm_up(on_failure: OnFailure) -> None:
    """Start workers for every function, and wait until they run. `on_failure` is called for each that cannot start.

    As many start at a time as there are processors: all at once would slow each other down.
    """
    lambda_service: Any = importlib.import_module("ministack.services.lambda_svc")  # ministack has no types
    with ThreadPoolExecutor(os.cpu_count()) as starters:
        for _scope, function in lambda_service._functions.all_items():
            name = function["config"]["FunctionName"]
            starters.submit(start_workers, name, function, WORKERS_AT_ONCE.get(name, 1), on_failure)


def start_workers(name: str, function: dict[str, Any], count: int, on_failure: OnFailure) -> None:
    """Start workers of one function until it has this many."""
    runtime: Any = importlib.import_module("ministack.core.lambda_runtime")
    leased = []
    try:
        for _ in range(count):
            worker, reason = runtime.acquire_worker(name, function["config"], function["code_zip"])
            leased.append(worker)
            if reason == "spawn":
                worker._spawn()
    except Exception as error:  # noqa: BLE001 - a function's code may raise anything when it is imported
        on_failure(name, str(error))
    finally:
        for worker in leased:
            runtime.release_worker(worker)
