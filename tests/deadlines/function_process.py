"""A process of its own: a Lambda function. A line of its input is an invocation, a line of its output an answer."""

import faulthandler
import json
import sys
import time
from typing import Any


class Context:
    """Lambda's, as far as it is read."""

    def __init__(self, seconds: float) -> None:
        self.ends = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return int((self.ends - time.monotonic()) * 1000)


def main() -> None:
    answers = sys.stdout
    sys.stdout = sys.stderr  # the lines of logs and metrics
    import app  # type: ignore[import-not-found] # the folder of the function is on the path

    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        given: dict[str, Any] = json.loads(line)
        began = time.monotonic()
        faulthandler.dump_traceback_later(2 * given["seconds"], exit=True)  # Lambda would be less patient
        outcome: dict[str, Any]
        try:
            outcome = {"answer": app.handler(given["event"], Context(given["seconds"]))}
        except Exception as error:  # noqa: BLE001 - as Lambda does
            outcome = {"raised": type(error).__name__}
        print(json.dumps({**outcome, "took": time.monotonic() - began}), file=answers, flush=True)


if __name__ == "__main__":
    main()
