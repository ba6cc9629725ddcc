"""A function's process does this after it was forked: it becomes an execution environment, and serves invocations.

As on AWS: the environment is that of the function, the code's folder is the first on the path, one invocation follows
the other, and what the code writes to its standard streams is its log.
"""

import importlib
import json
import os
import random
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

from local.emulator.processes.parent_process import messages, names

Handler = Callable[[Any, Any], Any]
# AWS's services are not slowed by who calls them. Here the emulator is one process among fifty: with an equal share of
# two processors it would answer after seconds, functions would call again, and all would be slower still.
BEHIND_THE_EMULATOR: Final = 10


class Context:
    """The second argument of a handler."""

    identity = None
    client_context = None

    def __init__(self, given: Mapping[str, Any]) -> None:
        seconds = float(os.environ.get("_LAMBDA_TIMEOUT", "3"))
        self._deadline = time.time() + seconds
        self.aws_request_id = given["request_id"]
        self.invoked_function_arn = given["arn"]
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = int(os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"])
        self.log_group_name = os.environ["AWS_LAMBDA_LOG_GROUP_NAME"]
        self.log_stream_name = os.environ["AWS_LAMBDA_LOG_STREAM_NAME"]

    def get_remaining_time_in_millis(self) -> int:
        """Until the invocation is ended."""
        return max(0, int((self._deadline - time.time()) * 1000))


def run(order: Mapping[str, Any], channel_file: int, log_file: int) -> None:
    """Import the handler, say so, and serve until the emulator closes the channel."""
    channel = socket.socket(fileno=channel_file)
    settle(order, log_file)
    try:
        handler = imported(order["module"], order["handler"])
    except BaseException as error:  # noqa: BLE001 - a setting that is missing ends the process by SystemExit
        traceback.print_exc()
        messages.send(channel, {"status": "error", "error": str(error)})
        return
    messages.send(channel, {"status": "ready"})
    serve(channel, handler)


def settle(order: Mapping[str, Any], log_file: int) -> None:
    """Be a process of its own: streams, environment, folder, random numbers."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(log_file, number)
    sys.stdin, sys.stdout = open(0), open(1, "w", buffering=1)  # noqa: SIM115 - to the end
    sys.stderr = open(2, "w", buffering=1)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.nice(BEHIND_THE_EMULATOR)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    names.call(names.FUNCTION + os.environ["AWS_LAMBDA_FUNCTION_NAME"].partition("-")[2])
    sys.path.insert(0, order["folder"])
    sys.argv = [""]
    sys.modules["__main__"] = ModuleType("__main__")
    random.seed()  # or all of them would draw the same numbers


def imported(module: str, name: str) -> Handler:
    """The handler."""
    handler: Handler = getattr(importlib.import_module(module), name)
    return handler


def serve(channel: socket.socket, handler: Handler) -> None:
    """One invocation after the other."""
    while True:
        try:
            invocation = messages.receive(channel)
        except (EOFError, OSError):
            return
        change_environment(invocation["environment"])
        answer = answer_of(handler, invocation)
        sys.stdout.flush()
        sys.stderr.flush()
        messages.send_encoded(channel, answer)


def change_environment(variables: Mapping[str, str | None]) -> None:
    """Lambda's variables that are of one invocation: None takes one away."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def answer_of(handler: Handler, invocation: Mapping[str, Any]) -> bytes:
    """Returns the function's result, or the error that it raised. The environment outlives an error, as on AWS."""
    try:
        result = handler(invocation["event"], Context(invocation))
        return json.dumps({"status": "ok", "result": result}).encode()
    except Exception as error:  # noqa: BLE001 - whatever a function raises
        return json.dumps({"status": "error", "error": str(error), "trace": traceback.format_exc()}).encode()
