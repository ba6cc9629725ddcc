"""The model of the deployed stack: what must hold whatever the figures are."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from bench.scale.figures import Figures, Work
from bench.scale.model import EXECUTE, NOTHING, RELAY, Load, Outcome, simulate
from bench.scale.stack import Mapping, Stack, changed, emulated

WORK = {
    "enqueue": Work(fixed=0.003, each=0.0003),
    "relay": Work(fixed=0.004, each=0.002),
    "execute": Work(fixed=0.004, each=0.005),
}
FIGURES = Figures(machine={}, function=WORK, emulator=WORK, imports={"delayer-relay": 0.3})
STACK = Stack(
    relay=Mapping(at_most=100),
    executor=Mapping(at_most=100),
    lanes=2,
    schedule_writes=4000,
    ledger_writes=4000,
    concurrency=1000,
)
PROVISIONED = evolve(STACK, relay=Mapping(at_most=2000, pollers=30), executor=Mapping(at_most=2000, pollers=30))
LOADS = st.builds(Load, name=st.just("any"), schedules=st.integers(1, 3000), within=st.sampled_from([0.0, 1.0, 60.0]))
STACKS = st.sampled_from([STACK, PROVISIONED, emulated(2)])


def run(load: Load, stack: Stack) -> Outcome:
    return simulate(load, stack, FIGURES)


@given(LOADS, STACKS)
def test_every_schedule_arrives_once_and_none_early(load: Load, stack: Stack) -> None:
    outcome = run(load, stack)
    assert sum(outcome.late.values()) == load.schedules
    assert min(outcome.late) >= 0
    assert outcome.last >= outcome.percentile(1) - 0.001


@given(LOADS, STACKS)
def test_the_same_arguments_give_the_same_outcome(load: Load, stack: Stack) -> None:
    one, other = run(load, stack), run(load, stack)
    assert (one.late, one.last, one.waited) == (other.late, other.last, other.waited)


@given(LOADS, STACKS)
def test_no_more_run_at_a_time_than_is_allowed(load: Load, stack: Stack) -> None:
    outcome = run(load, stack)
    assert outcome.stations[RELAY].most <= stack.relay.at_most
    assert outcome.stations[EXECUTE].most <= stack.executor.at_most
    assert all(one.most <= stack.concurrency for one in outcome.stations.values())
    assert all(one.busy == 0 and not one.queue for one in outcome.stations.values()), "nothing is left"


@given(st.integers(100, 2000), st.integers(2, 5), st.sampled_from([STACK, PROVISIONED]))
def test_more_at_one_instant_are_never_out_earlier(count: int, times: int, stack: Stack) -> None:
    """But for the second within which messages can be received."""
    steady = evolve(stack, jitter=0.0)
    few, many = (run(Load(name="", schedules=count * more, within=0.0), steady) for more in (1, times))
    assert many.last >= few.last - 1.0


@given(st.integers(500, 3000), st.sampled_from(["relay_memory", "executor_memory"]))
def test_more_memory_is_never_slower(count: int, memory: str) -> None:
    """It takes a second or two: the model plays them with each memory."""
    load, steady = Load(name="", schedules=count, within=0.0), evolve(STACK, jitter=0.0)
    much, little = (run(load, changed(steady, {memory: megabytes})) for megabytes in ("1024", "256"))
    assert much.last <= little.last * 1.1


@given(st.integers(20, 100), st.sampled_from([STACK, PROVISIONED]))
def test_littles_law(rate: int, stack: Stack) -> None:
    """As many are busy on average as begin in a second, times how long each stays: counted in two ways."""
    seconds = 60
    outcome = run(Load(name="", schedules=rate * seconds, within=seconds), stack)
    for station in outcome.stations.values():
        begun, stays = station.batches / seconds, station.stayed / station.batches
        assert station.area / seconds == pytest.approx(begun * stays)


def test_what_is_slow_is_what_binds() -> None:
    load = Load(name="", schedules=20_000, within=0.0)
    assert run(load, evolve(STACK, executor=Mapping(at_most=5))).binds() == "pollers of execute"
    assert run(load, evolve(STACK, relay=Mapping(at_most=5))).binds() == "pollers of relay"
    assert run(load, evolve(PROVISIONED, concurrency=20)).binds() == "concurrency of the account"
    assert run(load, evolve(PROVISIONED, ledger_writes=500)).binds() == "writes of the ledger"
    assert run(Load(name="", schedules=2, within=0.0), evolve(PROVISIONED, jitter=0.0)).binds() != "pollers of relay"


def test_where_the_ledger_writes_all_the_time_it_is_what_binds() -> None:
    """More pollers would not help: those that there are wait for it."""
    load = Load(name="", schedules=40_000, within=0.0)
    many = evolve(STACK, relay=Mapping(at_most=400), executor=Mapping(at_most=400), ledger_writes=1000)
    outcome = run(load, many)
    assert outcome.waited["pollers of relay"] > outcome.waited["writes of the ledger"]
    assert outcome.written > 0.95
    assert outcome.binds() == "writes of the ledger"
    assert run(load, evolve(many, ledger_writes=2000)).last < 0.6 * outcome.last


def test_little_waits_for_nothing() -> None:
    warm = evolve(FIGURES, imports={"delayer-relay": 0.0})
    outcome = simulate(Load(name="", schedules=600, within=600.0), STACK, warm)
    assert outcome.binds() == NOTHING
    assert outcome.percentile(0.5) < 0.1
