"""The functions' processes are forked from one that has imported the libraries: a stack starts faster.

ministack starts an interpreter for each, and each spends much of its start in importing boto3 and Powertools.
"""

import multiprocessing
import os
import subprocess
from multiprocessing.connection import Connection
from typing import IO, Any, Final

from local.emulator.processes.forked import run

WORKER: Final = "_worker.py"  # what ministack calls the script that is a Python function's process
LIBRARIES: Final = (
    "aws_lambda_powertools.logging",
    "aws_lambda_powertools.metrics",
    "attrs",
    "boto3.session",
    "botocore.httpsession",
    "botocore.retries.standard",
    "botocore.signers",
    "jmespath",
    "jsonschema",
    "local.emulator.processes.forked",
    "msgspec.json",
    "s3transfer.manager",
    "urllib3.connectionpool",
)


def fork_functions(runtime: Any) -> None:
    """Let ministack's runtime fork the processes of Python functions. Of others it starts an interpreter, as before."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LIBRARIES))
    runtime.subprocess = Subprocess(context)


class Subprocess:
    """The module `subprocess`, but for the processes of Python functions."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, command: list[str], **options: Any) -> Any:  # noqa: N802 - the name that is replaced
        """A process of either kind."""
        if not command[-1].endswith(WORKER):
            return subprocess.Popen(command, **options)
        return ForkedProcess(self.context, command, cwd=options["cwd"], env=options["env"])


class ForkedProcess:
    """As subprocess.Popen with pipes of text, as far as ministack uses it."""

    def __init__(self, context: Any, command: list[str], *, cwd: str, env: dict[str, str]) -> None:
        self.args = command
        theirs_in, ours_in = context.Pipe(duplex=False)
        ours_out, theirs_out = context.Pipe(duplex=False)
        ours_error, theirs_error = context.Pipe(duplex=False)
        theirs = (theirs_in, theirs_out, theirs_error)
        self._process = context.Process(target=run, args=(command[-1], cwd, env, *theirs), daemon=True)
        self._process.start()
        for end in theirs:
            end.close()
        self.stdin = _text(ours_in, "w")
        self.stdout = _text(ours_out, "r")
        self.stderr = _text(ours_error, "r")

    @property
    def pid(self) -> int:
        """Of the forked process."""
        return int(self._process.pid)

    @property
    def returncode(self) -> int | None:
        """None as long as it runs."""
        return self.poll()

    def poll(self) -> int | None:
        """The same."""
        code: int | None = self._process.exitcode
        return code

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code. Raises TimeoutExpired."""
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def terminate(self) -> None:
        """By SIGTERM."""
        self._process.terminate()

    def kill(self) -> None:
        """By SIGKILL."""
        self._process.kill()


def _text(end: Connection, mode: str) -> IO[str]:
    """The pipe as a file, which closes it when nobody has it any more."""
    file = os.fdopen(os.dup(end.fileno()), mode, buffering=1, encoding="utf-8")
    end.close()
    return file
