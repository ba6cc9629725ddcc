"""A function in a stack without a lane has no table of it, and does not need one (ADR 0172)."""

from typing import Any

import pytest

from delayer.accept.use_cases.cancel import Forgotten
from delayer.lambdas.consumers import LambdaStreamConsumer
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

TABLES = ("SCHEDULES_TABLE", "LEDGER_TABLE", "CONTROL_TABLE", "REGISTRY_TABLE")
LANES = ("RELAXED_TABLE", "WAITING_TABLE")


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """One without lanes."""
    for name in TABLES:
        monkeypatch.setenv(name, name.lower())
    for name in (*LANES, "RELAXED_CLAIMER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    return monkeypatch


def tables_of(ports: Environment) -> set[tuple[str, str]]:
    """Where relaxed schedules and those without a time would be looked for."""
    found: list[Any] = [ports.records, ports.timed_records, ports.registry, ports.series]
    return {
        (name, getattr(one, name)) for one in found for name in ("relaxed_table", "waiting_table") if hasattr(one, name)
    }


def test_what_would_be_in_a_lane_is_with_the_precise_schedules(stack: pytest.MonkeyPatch) -> None:
    """There is none, unless it comes from elsewhere: there it fires."""
    without = {(name, "schedules_table") for name in ("relaxed_table", "waiting_table")}
    assert tables_of(Environment("api-schedule-get")) == without
    for name in LANES:
        stack.setenv(name, name.lower())
    found = tables_of(Environment("api-schedule-get"))
    assert found == {("relaxed_table", "relaxed_table"), ("waiting_table", "waiting_table")} | {
        ("waiting_table", "schedules_table")  # of those who meet nothing that waits
    }


def test_nobody_looks_for_what_waits_where_nothing_can(stack: pytest.MonkeyPatch) -> None:
    """api-schedule-stop has no other table in which it could."""
    assert build(Forgotten, Environment("api-schedule-stop")).optional_waiting is None
    stack.setenv("WAITING_TABLE", "waiting_table")
    assert build(Forgotten, Environment("api-schedule-stop")).optional_waiting is not None


@pytest.mark.parametrize("name", ["waiting_records", "undecided"])
def test_a_part_of_the_lane_alone_is_not_made_without_its_table(name: str, stack: pytest.MonkeyPatch) -> None:
    """It would take the precise schedules for its own."""
    with pytest.raises(SystemExit, match="WAITING_TABLE"):
        getattr(Environment("timing-enqueuer"), name)
    stack.setenv("WAITING_TABLE", "waiting_table")
    assert getattr(Environment("timing-enqueuer"), name).table == "waiting_table"


def test_what_the_stream_gave_up_on_has_one_reader(stack: pytest.MonkeyPatch) -> None:
    stack.setenv("STREAM_ENQUEUER", "enqueuer")
    consumer = Environment("task-1minute-enqueuer").stream_consumer
    assert isinstance(consumer, LambdaStreamConsumer)
    assert (consumer.function, consumer.relaxed) == ("enqueuer", "")


def test_the_names_of_lanes_are_read_as_those_of_policies(stack: pytest.MonkeyPatch) -> None:
    for value, lanes in (("", ()), ("relaxed", ("relaxed",))):
        stack.setenv("LANES", value)
        assert Environment("api-series-put").settings.lanes == lanes
