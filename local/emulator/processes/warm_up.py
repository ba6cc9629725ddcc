"""Starts each function once: one that cannot be imported is named at once."""

import importlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

OnFailure = Callable[[str, str], None]  # function, reason


def warm_up(on_failure: OnFailure) -> None:
    """Start a process for every function, and wait until they run. `on_failure` is called for each that cannot start.

    More follow when more is to be done at the same time, and those that nobody uses end.
    """
    lambda_service: Any = importlib.import_module("ministack.services.lambda_svc")  # ministack has no types
    functions = {function["config"]["FunctionName"]: function for _, function in lambda_service._functions.all_items()}
    with ThreadPoolExecutor(os.cpu_count()) as starters:
        for name, function in functions.items():
            starters.submit(start_worker, name, function, on_failure)


def start_worker(name: str, function: dict[str, Any], on_failure: OnFailure) -> None:
    """Start the first worker of a function, unless it runs already."""
    runtime: Any = importlib.import_module("ministack.core.lambda_runtime")
    worker, _reason = runtime.acquire_worker(name, function["config"], function["code_zip"])
    try:
        runtime.ensure_spawned(worker)
    except Exception as error:  # noqa: BLE001 - a function's code may raise anything when it is imported
        on_failure(name, str(error))
    finally:
        runtime.release_worker(worker)
