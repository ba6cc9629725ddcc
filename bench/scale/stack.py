"""What a stack is made of, as far as speed and cost depend on it: a deployed one by the template, or the emulator's."""

from typing import Any, Final

from attrs import asdict, evolve, frozen

from bench.scale import facts
from local.project import PROJECT
from operate.deploy.reading import read_template

SCALES: Final = ("small", "large")
GLOBAL_MEMORY: Final = 256


@frozen(kw_only=True)
class Mapping:
    """An event source mapping of a queue."""

    at_most: int  # batches at a time
    pollers: int = 0  # provisioned ones at least; 0 for none


@frozen(kw_only=True)
class Stack:
    """One of them. Rates are per second."""

    relay: Mapping
    executor: Mapping
    relay_memory: int = GLOBAL_MEMORY  # MB
    executor_memory: int = GLOBAL_MEMORY
    enqueuer_memory: int = GLOBAL_MEMORY
    lanes: int  # ParallelizationFactor of the schedules table's stream
    shards: int = 8  # partitions of one minute
    schedule_writes: int  # warm throughput of the schedules table
    ledger_writes: int  # that of the ledger
    concurrency: int  # of the account
    period: float = 840.0  # the delayer period
    lead: float = 0.5  # the hand-over lead
    target: float = facts.TARGET_ANSWERS.value
    core: float = facts.CORE.value
    jitter: float = facts.JITTER.value
    processors: int = 0  # shared by all, on one machine; 0 on AWS
    warm: int = 0  # environments of each function that have started before: kept so by the canary (ADR 0165)
    connects: bool = False  # each batch opens its connections anew, as those do that come after a pause
    stretch: float = 1.0  # by how much one machine takes longer than what was measured step by step

    @property
    def stream_shards(self) -> int:
        """One for each partition, of which a table has as many as its writes need."""
        return max(1, -(-self.schedule_writes // int(facts.PARTITION_WRITES.value)))

    def provisioned(self) -> int:
        """Pollers that are paid for by the hour."""
        return self.relay.pollers + self.executor.pollers


def of_template(scale: str) -> Stack:
    """What the template ships with this value of `Scale`, in an account that has what it asks for."""
    template = read_template(PROJECT / "template.yaml")
    row = {name: int(value) for name, value in template["Mappings"]["Scales"][scale].items() if str(value).isdigit()}
    executor = template["Mappings"]["Executors"]["http-request"]
    row = {**row, "ExecutorPollers": int(executor["Pollers"])}
    return Stack(
        relay=mapping_of(row, "Relay", template["Parameters"]["RelayConcurrency"]),
        executor=mapping_of(row, "Executor", template["Parameters"]["ExecutorConcurrency"]),
        relay_memory=row["RelayMemory"],
        executor_memory=int(executor["Memory"]),
        enqueuer_memory=row["EnqueuerMemory"],
        lanes=row["Lanes"],
        shards=row.get("Shards", int(template["Parameters"]["Shards"]["Default"])),
        schedule_writes=row.get("ScheduleWrites", int(facts.WARM_WRITES.value)),
        ledger_writes=row.get("LedgerWrites", int(facts.WARM_WRITES.value)),
        concurrency=row["Concurrency"],
        period=float(template["Parameters"]["DelayerPeriod"]["Default"]),
        lead=template["Parameters"]["HandoverLead"]["Default"] / 1000,
    )


def mapping_of(row: dict[str, int], name: str, parameter: dict[str, Any]) -> Mapping:
    """Provisioned pollers take the place of the parameter."""
    if most := row.get(f"{name}PollersAtMost"):
        return Mapping(at_most=most * int(facts.PROVISIONED_INVOKES.value), pollers=row[f"{name}Pollers"])
    return Mapping(at_most=int(parameter["Default"]))


def emulated(processors: int, concurrency: int = 10) -> Stack:
    """The stack on one machine: no limits of tables, and a target that answers at once."""
    plenty = 10**9
    return Stack(
        relay=Mapping(at_most=concurrency),
        executor=Mapping(at_most=concurrency),
        lanes=1,
        schedule_writes=plenty,
        ledger_writes=plenty,
        concurrency=plenty,
        period=60.0,
        target=0.001,
        jitter=0.0,
        processors=processors,
    )


def changed(stack: Stack, changes: dict[str, str]) -> Stack:
    """With other values, by the names of the fields; `relay` and `executor` as AT_MOST or AT_MOST/POLLERS."""
    values: dict[str, Any] = {}
    for name, text in changes.items():
        if name not in asdict(stack, recurse=False):
            raise ValueError(f"{name} is no property of a stack: {', '.join(sorted(asdict(stack)))}")
        if name in ("relay", "executor"):
            most, _, pollers = text.partition("/")
            values[name] = Mapping(at_most=int(most), pollers=int(pollers or 0))
        else:
            values[name] = type(getattr(stack, name))(text)
    return evolve(stack, **values)
