"""The command line says what is measured."""

import pytest

from bench.options import PARTS, parse


def test_the_defaults() -> None:
    options = parse([])
    assert (options.rate, options.seconds, options.burst, options.parts) == (50, 60, 500, PARTS)
    assert options.parameters == {"DelayerPeriod": "60"}


def test_a_quick_run_is_small_but_for_what_is_said() -> None:
    options = parse(["--quick", "--rate", "40", "--only", "steady", "--parameter", "Shards=2"])
    assert (options.rate, options.seconds, options.burst, options.parts) == (40, 10, 100, ("steady",))
    assert options.parameters == {"DelayerPeriod": "60", "Shards": "2"}


@pytest.mark.parametrize("rate", ["0", "-1", "fast"])
def test_a_number_that_is_none_is_refused_in_a_sentence(rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--rate", rate])
    assert f"argument --rate: {rate} is not a whole number above zero" in capsys.readouterr().err
