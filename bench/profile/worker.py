"""One function in a process of its own: imports it, feeds it events, and prints where its processor time went.

It runs as a script, in the function's folder, with the function's environment. Nothing of the project is imported
before the function, so that its import time is the one of a cold start.
"""

import cProfile
import importlib
import io
import json
import pstats
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WARM = 5  # invocations before those that are measured


class Calls:
    """The processor time of the calls of AWS while they are counted, in whichever thread they are made."""

    def __init__(self) -> None:
        self.seconds, self.count, self.is_counting = 0.0, 0, False
        self._lock = threading.Lock()

    def watch(self) -> None:
        """From now on."""
        from botocore.client import BaseClient

        client_class: Any = BaseClient  # botocore has no public place for this
        call = client_class._make_api_call

        def timed(client: Any, *arguments: Any) -> Any:
            began = time.thread_time()
            try:
                return call(client, *arguments)
            finally:
                if self.is_counting:
                    with self._lock:
                        self.seconds += time.thread_time() - began
                        self.count += 1

        client_class._make_api_call = timed


def main(asked: dict[str, Any]) -> None:
    """Print one line of JSON, and the table of the profiler if it was asked for."""
    began = time.perf_counter()
    app = importlib.import_module("app")

    import_seconds = time.perf_counter() - began
    sys.path.insert(0, str(Path(__file__).parent))
    events = importlib.import_module("events")

    calls = Calls()
    calls.watch()
    batches = events.of(asked)
    for _ in range(WARM):
        invoke(app.handler, next(batches))
    profiler = cProfile.Profile() if asked["top"] else None
    seconds = [measured(app.handler, next(batches), calls, profiler) for _ in range(asked["runs"])]
    result = {
        "function": asked["function"],
        "what": asked["what"],
        "records": asked["records"],
        "runs": asked["runs"],
        "import_ms": 1000 * import_seconds,
        "cpu_ms": 1000 * sum(seconds) / len(seconds),
        "aws_ms": 1000 * calls.seconds / len(seconds),
        "aws_calls": calls.count / len(seconds),
        "table": table(profiler, asked["top"]) if profiler else "",
    }
    print(json.dumps(result))


def invoke(handler: Callable[[Any, Any], Any], event: Any) -> None:
    """Once. An answer that reports failures, or an error, makes what was measured worthless."""
    answer = handler(event, Context())
    failed = answer.get("batchItemFailures") if isinstance(answer, dict) else None
    if failed or (isinstance(answer, dict) and answer.get("statusCode", 200) >= 400):
        raise SystemExit(f"the function failed: {json.dumps(answer)[:300]}")


def measured(handler: Callable[[Any, Any], Any], event: Any, calls: Calls, profiler: cProfile.Profile | None) -> float:
    """Processor seconds of one invocation, of all its threads. What the event has cost is not in it."""
    calls.is_counting = True
    began = time.process_time()
    if profiler:
        profiler.enable()
    invoke(handler, event)
    if profiler:
        profiler.disable()
    calls.is_counting = False
    return time.process_time() - began


class Context:
    """What Lambda says about an invocation."""

    function_name = "profiled"
    memory_limit_in_mb = 256
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:profiled"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """Enough."""
        return 85_000


def table(profiler: cProfile.Profile, rows: int) -> str:
    """The profiler's own, by the time within each function itself. Threads other than the first are not in it."""
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(rows)
    return text.getvalue()


if __name__ == "__main__":
    main(json.loads(sys.stdin.read()))
