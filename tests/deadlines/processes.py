"""Functions in processes of their own, with the environment that the template gives them."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from tests.cfn import ROOT, shared_variables, variables
from tests.functions.cold_start import RUNTIME, value_of


class FunctionProcess:
    """One warm function. It is ready when `wait_until_ready` returns."""

    def __init__(self, function: str, **endpoints: str) -> None:
        """`endpoints`: the variables of boto3 that name them, such as AWS_ENDPOINT_URL."""
        self.function = function
        given = {**shared_variables(), **variables(function)}
        environment = {name: value_of(value) for name, value in given.items()} | RUNTIME | endpoints
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "shared"), str(ROOT / "functions" / function)])
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(ROOT / "tests/deadlines/function_process.py")],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def wait_until_ready(self) -> None:
        assert self._line() == "ready"

    def begin(self, event: object, seconds: float) -> None:
        """Invokes it; Lambda would end it after these seconds."""
        assert self.process.stdin
        with suppress(BrokenPipeError):  # it had to be ended before; `outcome` says so
            self.process.stdin.write(json.dumps({"event": event, "seconds": seconds}) + "\n")
            self.process.stdin.flush()

    def outcome(self) -> dict[str, Any]:
        """Its `answer` or what it `raised`, and how long it `took` in seconds; for ever if it had to be ended."""
        found: dict[str, Any] = json.loads(self._line() or '{"took": Infinity}')
        return found

    def _line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()
