"""Holds one stack of a run, `python -m tests.e2e.stacks FOLDER NAME`, until no process of the run is left.

It has a receiver of its own, for what a parameter of the stack names and for what arrives while other tests run: a
test that moves the clock of its process would falsify the instants of arrival there.
"""

import http.client
import json
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Final
from uuid import uuid4

from attrs import asdict

from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.stacks.attaching import FAILED, REFUSING, announced, arrivals_of, outlive_nobody, written
from tests.e2e.stacks.kinds import EARLY, FAILURES, KINDS, MAIN, early
from tests.e2e.stacks.minute_task import switch_minute_task

TRIES: Final = 4


class Recording(Receiver):
    """A receiver whose requests are read from a file, and which refuses the webhook while there is another file."""

    def __init__(self, file: Path, refusing: Path) -> None:
        super().__init__()
        self.file, self.refusing = file, refusing

    def record(self, at_ms: int, method: str, path: str, headers: Mapping[str, str], body: bytes) -> int:
        """As the receiver does, and written down."""
        self.answer(FAILURES, 503 if self.refusing.exists() else 200)
        with self.changed:
            status = super().record(at_ms, method, path, headers, body)
            line = json.dumps(asdict(self.requests[-1]) | {"body": body.decode()})
            with self.file.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        return status


def main(folder: Path, name: str) -> None:
    """Starts the stack and says where it is; ends with the run."""
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the run, and this with it
    threading.Thread(target=outlive_nobody, args=(folder,), daemon=True).start()
    try:
        hold(folder, name)
    except Exception:  # noqa: BLE001 - whatever it is, the tests say it
        (folder / f"{name}{FAILED}").write_text(traceback.format_exc())
        threading.Event().wait()  # until it was read
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hold(folder: Path, name: str) -> None:
    """Until this process is ended."""
    kind = KINDS[name]
    with Recording(arrivals_of(folder, name), folder / REFUSING) as receiver:
        parameters = dict(kind.parameters)
        if name == MAIN:
            parameters["FailedWebhookUrl"] = receiver.url + FAILURES
        with EmulatedStack(parameters=parameters, starts_functions=kind.starts_functions) as stack:
            if not kind.has_minute_task:
                switch_minute_task(stack, "DISABLED")
            given = early(name, receiver.url, time.time_ns() // 1_000_000)
            made = {path: posted(stack.port, call, body) for path, (call, body) in given.items()}
            written(announced(folder, name), stack, made)
            threading.Event().wait()


def posted(port: int, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a call that has to succeed. 503 says on a busy machine that nobody knows: one asks again."""
    headers = {"Content-Type": "application/json", "Delayer-Owner": EARLY, "Idempotency-Key": uuid4().hex}
    for _ in range(TRIES):
        connection = http.client.HTTPConnection("localhost", port, timeout=60)
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        made: dict[str, Any] = json.loads(answer.read())
        connection.close()
        if answer.status != 503:
            break
    if answer.status not in (200, 201):
        raise RuntimeError(f"{path} answered {answer.status}: {made}")
    return made


def end(_number: int, _frame: FrameType | None) -> None:
    """The stack is ended on the way out."""
    raise SystemExit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
