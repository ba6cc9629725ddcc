"""Starts the functions' processes before their first invocation, so that they are as warm as in a busy account."""

import importlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# As many as may run at once (RelayConcurrency and ExecutorConcurrency on one machine). If they were started only when
# a burst is due, the burst would be seconds late.
WORKERS_AT_ONCE = {"delayer-delayer-relay": 10, "delayer-executor-http-request": 10}
OnFailure = Callable[[str, str], None]  # function, reason


def warm_up(on_failure: OnFailure) -> None:
    """Start a worker for every function, and wait until they run. `on_failure` is called for each that cannot start.

    As many start at a time as there are processors: all at once would slow each other down. The others of a function
    that has several follow while requests are answered already.
    """
    lambda_service: Any = importlib.import_module("ministack.services.lambda_svc")  # ministack has no types
    functions = {function["config"]["FunctionName"]: function for _, function in lambda_service._functions.all_items()}
    with ThreadPoolExecutor(os.cpu_count()) as starters:
        for name, function in functions.items():
            starters.submit(start_worker, name, function, on_failure)
    further = [name for name, count in WORKERS_AT_ONCE.items() if name in functions for _ in range(count - 1)]

    def start_the_others() -> None:
        for name in further:
            start_worker(name, functions[name], lambda _name, _reason: None)  # its first one has failed, too

    threading.Thread(target=start_the_others, daemon=True, name="warm-up").start()


def start_worker(name: str, function: dict[str, Any], on_failure: OnFailure) -> None:
    """Start one more worker of a function. Those that it has are not kept from their work."""
    runtime: Any = importlib.import_module("ministack.core.lambda_runtime")
    idle = []
    worker, reason = runtime.acquire_worker(name, function["config"], function["code_zip"])
    while reason == "reused":
        idle.append(worker)
        worker, reason = runtime.acquire_worker(name, function["config"], function["code_zip"])
    for one in idle:
        runtime.release_worker(one)
    try:
        worker._spawn()
    except Exception as error:  # noqa: BLE001 - a function's code may raise anything when it is imported
        on_failure(name, str(error))
    finally:
        runtime.release_worker(worker)
