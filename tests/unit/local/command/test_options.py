"""A mistake on the command line is reported in one sentence."""

import shlex
import shutil
import subprocess

import pytest

from local.command.options import parse
from local.errors import EmulatorError
from tests.cfn import ROOT


def test_parameters_are_read() -> None:
    options = parse(["--delayer-period", "60", "--parameter", "Shards=2", "--parameter", "Pattern=a=b"])
    assert options.parameters == {"DelayerPeriod": "60", "Shards": "2", "Pattern": "a=b"}


def test_the_demonstration_runs_unless_it_is_switched_off() -> None:
    assert parse([]).demonstrates
    assert not parse(["--no-demo"]).demonstrates


@pytest.mark.parametrize("given", ["Shards", "=2"])
def test_a_parameter_without_a_value_is_refused(given: str) -> None:
    with pytest.raises(EmulatorError, match="NAME=VALUE"):
        parse(["--parameter", given])


@pytest.mark.parametrize("port", ["0", "65534"])
def test_a_port_out_of_range_is_refused(port: str) -> None:
    with pytest.raises(EmulatorError, match=f"Port {port} cannot be used: choose one from 1 to 65533"):
        parse(["--port", port])


def test_make_gives_each_parameter_as_it_was_written() -> None:
    """JSON keeps its quotes. Only spaces and `$`, which make reads itself, need another way."""
    given = [r"""Json={"queue":"it's"}""", "Url=https://x.example/?a=1&b=2;c", "Shards=2"]
    spaces = "--parameter 'Title=Good morning' --no-demo"
    make = shutil.which("make")
    assert make
    command = [
        make,
        "--dry-run",
        "--no-print-directory",
        "local-aws",
        f"PARAMETERS={' '.join(given)}",
        f"ARGS={spaces}",
    ]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    arguments = shlex.split(shown[shown.rindex("python -m local") :].replace("\\\n", " "))[3:]
    expected = dict(one.split("=", 1) for one in [*given, "Title=Good morning"])
    assert parse(arguments).parameters == expected
