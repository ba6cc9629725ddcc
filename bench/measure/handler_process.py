"""Runs one handler as Lambda would, in a process of its own, and tells what each invocation took.

Each line of its input is an event, each line of its output what became of it. The processor time is that of all threads
of the process: boto3's, the handler's and the observer's.
"""

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    """Until the input ends."""
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("app", folder / "app.py")
    assert spec
    assert spec.loader
    app = importlib.util.module_from_spec(spec)
    out, sys.stdout = sys.stdout, sys.stderr  # the logs of the handler
    spec.loader.exec_module(app)
    for line in sys.stdin:
        print(json.dumps(invoke(app.handler, json.loads(line)), default=str), file=out, flush=True)


def invoke(handler: Any, event: object) -> dict[str, Any]:
    """Its answer, and the seconds of the processor and of the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    answer = handler(event, Context())
    return {"cpu": time.process_time() - processor, "wall": time.perf_counter() - clock, "answer": answer}


class Context:
    """What the handlers look at of Lambda's context."""

    function_name = "measured"
    function_version = "1"
    memory_limit_in_mb = 256
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:measured"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """As at the start of an invocation of an executor, the longest."""
        return 85_000


if __name__ == "__main__":
    main(Path(sys.argv[1]))
