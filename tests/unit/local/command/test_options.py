"""A mistake on the command line is reported in one sentence."""

import pytest

from local.command.options import parse
from local.errors import EmulatorError


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
