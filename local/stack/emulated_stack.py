"""The stack on one machine as an object: for `make local-aws`, the end-to-end tests and the benchmarks."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from local.key_pair import KeyPair
from local.project import PROJECT
from local.stack.ports import free_port, refuse_used
from local.stack.process import EmulatorProcess
from local.stack.running_stack import RunningStack

if TYPE_CHECKING:
    from local.stack.expiry import Expiry

Progress = Callable[[str], AbstractContextManager[object]]


class EmulatedStack(RunningStack):
    """The emulator with the stack of `template.yaml` in it. As a context manager it leaves no process behind.

    The API is at `port`, the AWS endpoint at the next one; 0 means two free ports. `parameters` are template
    parameters. `metering` makes `meter()` available. With `starts_functions` False each function starts when it is
    asked first, or by `start_functions`. With `tls` the functions reach the AWS endpoint over TLS. Errors:
    EmulatorError.
    """

    def __init__(
        self,
        port: int = 0,
        parameters: Mapping[str, str] | None = None,
        metering: bool = False,
        template: Path = PROJECT / "template.yaml",
        progress: Progress = nullcontext,
        starts_functions: bool = True,
        *,
        tls: bool = False,
    ) -> None:
        self.is_temporary = port == 0
        port = port or free_port()
        super().__init__(port, port + 1, PROJECT / ".local" / str(port), KeyPair.new(), outputs={})
        self.parameters = dict(parameters or {})
        self.template = template
        self.progress = progress
        self.process = EmulatorProcess(self.aws_port, self.port, self.folder, metering, self.pair, tls=tls)
        self.starts_functions = starts_functions
        self.expiries: list[Expiry] = []

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
        """Start the emulator, create the stack, open the API's address."""
        for port in (self.port, self.aws_port):
            refuse_used(port)
        with self.progress("Starting the emulator"):
            self.process.start()
            from local.deployment.deploy import deploy, packaged_from  # boto3, while the emulator starts

            packaged = packaged_from(self.template, self.parameters)
            self.process.wait_until_ready()
        with self.progress("Creating the stack of template.yaml"):
            self.outputs = deploy(self.clients, packaged, self.parameters)
        if "ApiId" in self.outputs:
            self.request_emulator("PUT", "/_local/api", {"apiId": self.outputs["ApiId"]})
            if self.starts_functions:
                self.start_functions()
        self.start_expiry()

    def start_functions(self) -> None:
        """Start each function once. EmulatorError with the names and reasons of those that cannot start."""
        with self.progress("Starting the functions"):
            self.request_emulator("PUT", "/_local/functions", {})

    def start_expiry(self) -> None:
        """Play DynamoDB's TTL."""
        from local.stack.expiry import EXPIRING, Expiry

        for interval, names in EXPIRING.items():
            tables = [self.outputs[name] for name in names if name in self.outputs]
            self.expiries.append(Expiry(self.client("dynamodb"), tables, interval))
        for expiry in self.expiries:
            expiry.start()

    def stop(self) -> None:
        """End every process; a second call does nothing."""
        for expiry in self.expiries:
            expiry.stop()
        self.process.stop()
        if self.is_temporary:
            shutil.rmtree(self.folder, ignore_errors=True)
