"""The stack on one machine as an object: for `make local`, the end-to-end tests and the benchmarks."""

import json
import os
import shutil
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from local.aws_clients import AwsClients
from local.deployment import STACK_NAME, deploy
from local.embedded_process import EmbeddedProcess
from local.errors import LocalStackError
from local.expiry import Expiry

PROJECT = Path(__file__).resolve().parent.parent
Progress = Callable[[str], AbstractContextManager[object]]


class LocalStack:
    """An embedded AWS with the stack of `template.yaml` in it; a context manager that leaves no process behind.

    `port` serves the API, the next one the AWS endpoint; 0 takes two free ones. `parameters` are template parameters.
    `metering` makes `meter()` available. Errors: LocalStackError, one sentence each.
    """

    def __init__(
        self,
        port: int = 0,
        parameters: Mapping[str, str] | None = None,
        metering: bool = False,
        template: Path = PROJECT / "template.yaml",
        progress: Progress = nullcontext,
    ) -> None:
        self.is_throwaway = port == 0
        self.port, self.aws_port = free_ports() if port == 0 else (port, port + 1)
        self.parameters = dict(parameters or {})
        self.template = template
        self.progress = progress
        self.api_url = f"http://localhost:{self.port}"
        self.aws_endpoint_url = f"http://127.0.0.1:{self.aws_port}"
        self.folder = PROJECT / ".local" / str(self.port)
        self.outputs: dict[str, str] = {}
        self.clients = AwsClients(self.aws_endpoint_url)
        self.process = EmbeddedProcess(self.aws_port, self.port, self.folder, metering)
        self.expiry: Expiry | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the embedded AWS, create the stack, open the address."""
        for port in (self.port, self.aws_port):
            refuse_used(port)
        with self.progress("Starting the embedded AWS"):
            self.process.start()
        with self.progress("Creating the stack of template.yaml"):
            self.outputs = deploy(self.clients, self.template, self.parameters)
        if "ApiId" in self.outputs:
            with self.progress("Starting the functions"):
                self.ask("PUT", "/_local/api", {"apiId": self.outputs["ApiId"]})
        tables = [self.outputs[name] for name in ("SchedulesTable", "LedgerTable") if name in self.outputs]
        self.expiry = Expiry(self.client("dynamodb"), tables)
        self.expiry.start()

    def stop(self) -> None:
        """End every process; may be called twice."""
        if self.expiry:
            self.expiry.stop()
        self.process.stop()
        if self.is_throwaway:
            shutil.rmtree(self.folder, ignore_errors=True)

    def client(self, service: str) -> Any:
        """A boto3 client of the embedded AWS."""
        return self.clients.client(service)

    def invoke(self, function: str, payload: object) -> Any:
        """Invoke a function by its folder's name and return what it answered; LocalStackError if it raised."""
        answer = self.client("lambda").invoke(FunctionName=f"{STACK_NAME}-{function}", Payload=json.dumps(payload))
        content = json.loads(answer["Payload"].read() or "null")
        if "FunctionError" in answer:
            raise LocalStackError(f"{function} failed: {content}")
        return content

    def logs(self, function: str) -> str:
        """What a function has written so far; an empty text if nothing."""
        file = self.folder / "logs" / f"{function}.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def meter(self) -> dict[str, Any]:
        """What AWS would have billed since the last reset (see local.meter)."""
        reading: dict[str, Any] = self.ask("GET", "/_local/meter")
        return reading

    def reset_meter(self) -> None:
        """Count from nothing again."""
        self.ask("DELETE", "/_local/meter")

    def ask(self, method: str, path: str, content: object = None) -> Any:
        """One request to the gateway's own paths; LocalStackError with what it says when it cannot."""
        body = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(self.aws_endpoint_url + path, data=body, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise LocalStackError(f"{json.load(error)['detail']} (logs in {self.folder}/logs)") from error


def free_ports() -> tuple[int, int]:
    """Two ports that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return first.getsockname()[1], second.getsockname()[1]


def refuse_used(port: int) -> None:
    """LocalStackError when another program listens on this port."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OverflowError:
        raise LocalStackError(f"There is no port {port}; choose one from 1024 to 65533.") from None
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        remedy = "stop the program that uses it, or choose another with `make local PORT=9090`"
        raise LocalStackError(f"Port {port} cannot be used ({reason}): {remedy}.") from None
