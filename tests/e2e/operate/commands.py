"""The commands of an operator, as a shell has them."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from local.project import PROJECT
from local.stack.running_stack import RunningStack
from tests.e2e.engine import environment

LONGEST = 240  # seconds of a command; most of them are waits for a series of one minute


def command(stack: RunningStack, *arguments: str) -> "subprocess.Popen[str]":
    """A command of the operator, with the credentials of this stack."""
    keys = stack.clients.session.get_credentials()
    assert keys is not None
    settings = {
        "PYTHONPATH": "shared:client",
        "AWS_ENDPOINT_URL": stack.aws_endpoint_url,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": keys.access_key,
        "AWS_SECRET_ACCESS_KEY": keys.secret_key,
    }
    return begun(arguments, {name: value for name, value in os.environ.items() if name != "COLUMNS"} | settings)


def own_command(*arguments: str) -> "subprocess.Popen[str]":
    """`delayer`, in a shell in which nobody has set anything."""
    return begun(("delayer_client.cli", *arguments), environment())


def begun(arguments: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[str]":
    """A module of Python, as in a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def done(process: "subprocess.Popen[str]") -> str:
    """What it said; it has to succeed."""
    try:
        said, _ = process.communicate(timeout=LONGEST)
    finally:
        process.kill()
    assert process.returncode == 0, said
    return said
