"""The command line says what is measured."""

import pytest

from bench.command.options import USUAL, parse


def test_the_defaults() -> None:
    options = parse([])
    assert (options.rate, options.seconds, options.burst, options.parts) == (50, 60, 500, USUAL)
    assert options.parameters == {"DelayerPeriod": "60", "Lifecycle": "off", "Canary": "off"}
    assert (options.post_seconds, options.call_seconds) == (10, 5)


def test_a_quick_run_is_small_except_for_what_is_given() -> None:
    options = parse(["--quick", "--rate", "40", "--only", "steady", "--parameter", "Shards=2"])
    assert (options.rate, options.seconds, options.burst, options.parts) == (40, 10, 100, ("steady",))
    assert options.parameters == {"DelayerPeriod": "60", "Lifecycle": "off", "Canary": "off", "Shards": "2"}
    assert (options.post_seconds, options.call_seconds) == (3, 2)


def test_the_journal_runs_if_it_is_asked_for() -> None:
    assert parse(["--parameter", "Lifecycle=journal"]).parameters["Lifecycle"] == "journal"


def test_the_calls_of_the_api_can_be_measured_alone() -> None:
    assert parse(["--only", "api"]).parts == ("api",)


@pytest.mark.parametrize("rate", ["0", "-1", "fast"])
def test_what_is_not_a_whole_number_above_zero_is_refused(rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--rate", rate])
    assert f"argument --rate: {rate} is not a whole number above zero" in capsys.readouterr().err


def test_series_need_events_and_are_measured_only_if_they_are_named() -> None:
    assert "series" not in parse([]).parts
    options = parse(["--only", "series", "--series", "7"])
    assert (options.parts, options.series, options.minutes) == (("series",), 7, 3)
    assert options.parameters["Lifecycle"] == "events"
    assert parse(["--only", "series", "--parameter", "Lifecycle=journal"]).parameters["Lifecycle"] == "journal"


def test_isolation_is_measured_with_few_executors_beside_each_bad_target() -> None:
    assert "isolation" not in parse([]).parts
    options = parse(["--only", "isolation"])
    assert (options.beside, options.parameters["ExecutorConcurrency"]) == (("hangs", "refuses", "drips"), "10")
    assert parse(["--only", "isolation", "--beside", "hangs"]).beside == ("hangs",)
