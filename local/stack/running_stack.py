"""A stack that runs, whoever has started it: its ports, its outputs, and how it is called."""

import json
import urllib.error
import urllib.request
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.deployment.settings import STACK_NAME
from local.emulator.metering.meter import Reading
from local.errors import EmulatorError
from local.key_pair import KeyPair

if TYPE_CHECKING:
    from local.aws_clients import AwsClients

LONGEST_REQUEST_SECONDS = 240  # the start of all functions: seconds, or minutes on a machine that is busy


class RunningStack:
    """The API is at `port`, the AWS endpoint at `aws_port`; `folder` has its logs and keys.

    `client` makes boto3 clients of the emulator; `pair` are their credentials, made for this stack alone.
    """

    def __init__(self, port: int, aws_port: int, folder: Path, pair: KeyPair, outputs: dict[str, str]) -> None:
        self.port = port
        self.aws_port = aws_port
        self.folder = folder
        self.pair = pair
        self.outputs = outputs
        self.api_url = f"http://localhost:{port}"
        self.aws_endpoint_url = f"http://127.0.0.1:{aws_port}"

    @cached_property
    def clients(self) -> "AwsClients":
        """Made when the emulator is starting already: to import boto3 takes as long as that."""
        from local.aws_clients import AwsClients

        return AwsClients(self.aws_endpoint_url, self.pair)

    def client(self, service: str) -> Any:
        """A client of the emulator, by boto3's name of the service."""
        return self.clients.client(service)

    def invoke(self, function: str, payload: object) -> Any:
        """Invoke a function by its folder's name and return the JSON that it returned; EmulatorError if it raised."""
        response = self.client("lambda").invoke(FunctionName=f"{STACK_NAME}-{function}", Payload=json.dumps(payload))
        content = json.loads(response["Payload"].read() or "null")
        if "FunctionError" in response:
            raise EmulatorError(f"{function} failed: {content}")
        return content

    def logs(self, function: str) -> str:
        """Returns the log of a function so far; empty if there is nothing."""
        file = self.folder / "logs" / f"{function}.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def meter(self) -> Reading:
        """Counts what AWS would have billed since the last reset."""
        reading: Reading = self.request_emulator("GET", "/_local/meter")
        return reading

    def reset_meter(self) -> None:
        """Start the meter at zero again."""
        self.request_emulator("DELETE", "/_local/meter")

    def request_emulator(self, method: str, path: str, content: object = None) -> Any:
        """Send a request to one of the `/_local/` paths and return the JSON of the response.

        EmulatorError with the reason in the response if that is an error.
        """
        body = None if content is None else json.dumps(content).encode()
        request = self.pair.signed(method, self.aws_endpoint_url + path, body)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=LONGEST_REQUEST_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            answer: dict[str, str] = json.load(error)  # a problem, or an error of the AWS port
            reason = answer.get("detail") or answer.get("message")
            raise EmulatorError(f"{reason} (logs in {self.folder}/logs)") from error
