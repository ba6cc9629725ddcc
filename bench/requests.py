"""What AWS would bill, from a reading of the meter (local.meter). Pure."""

from collections.abc import Container, Iterable, Mapping
from typing import Any

from attrs import frozen

MAPPING = "(event source mapping)"
MINUTE_TASK = "task-1minute-enqueuer"
OUTSIDE = "unknown"  # the benchmark's own requests
# These write one heartbeat or one control row, whatever is due: a fixed cost, not one of a schedule.
FIXED_WRITES = {MINUTE_TASK: ("PutItem", "DeleteItem", "UpdateItem")}
FIXED_WRITE_ANYWHERE = "UpdateItem"  # only control rows are updated
FIXED_SQS = "GetQueueAttributes"
# They tell what has happened, and take no part in it; Lifecycle=off leaves them idle.
LIFECYCLE = ("stream-lifecycle", "lifecycle-journal")
HEARTBEAT = ("stream-enqueuer", "dynamodb.UpdateItem")  # notes that the heartbeat came by


@frozen(kw_only=True)
class FunctionRequests:
    """What one function used, in a whole run."""

    function: str
    invocations: float
    seconds: float
    dynamodb: float  # requests
    write_units: float
    read_units: float
    sqs: float  # requests billed (64 KB each), by the function itself
    mapping: float  # receives that returned messages, and deletes, by its event source mapping
    s3: float


@frozen(kw_only=True)
class PerSchedule:
    """The sums that are compared with the cost model."""

    writes: float  # write units on schedules and ledger rows
    reads: float  # read units of the functions other than the minute task
    sqs: float  # requests of functions and mappings
    invocations: float
    fast_track: float  # the share that the stream-enqueuer deleted; the rest was swept
    fixed_writes: float  # write units on heartbeat and control rows, in the whole run
    fixed_reads: float  # read units of the minute task, in the whole run
    ticks: float  # of the minute task in the run


@frozen(kw_only=True)
class PerCall:
    """What one call of the API came to, with what streams and queues do after its answer."""

    writes: float  # write units
    reads: float  # read units
    sqs: dict[str, float]  # requests by function, its event source mapping included; only of functions that made any
    invocations: dict[str, float]  # by function


def by_function(reading: Mapping[str, Any]) -> list[FunctionRequests]:
    """A row for each function that did anything, by name."""
    names = sorted((reading["requests"].keys() | reading["invocations"].keys()) - {OUTSIDE})
    return [function_row(name, reading) for name in names]


def function_row(function: str, reading: Mapping[str, Any]) -> FunctionRequests:
    """One function's sums."""
    operations = reading["requests"].get(function, {})
    invoked = reading["invocations"].get(function, {})
    return FunctionRequests(
        function=function,
        invocations=invoked.get("invocations", 0),
        seconds=invoked.get("seconds", 0),
        dynamodb=total(operations, "dynamodb.", "requests"),
        write_units=total(operations, "dynamodb.", "writeUnits"),
        read_units=total(operations, "dynamodb.", "readUnits"),
        sqs=sum(numbers["billed"] for name, numbers in operations.items() if is_own_sqs(name)),
        mapping=sum(numbers["requests"] for name, numbers in operations.items() if name.endswith(MAPPING)),
        s3=total(operations, "s3.", "requests"),
    )


def is_own_sqs(operation: str) -> bool:
    """Whether a function made this request itself."""
    return operation.startswith("sqs.") and not operation.endswith(MAPPING)


def total(operations: Mapping[str, Mapping[str, float]], prefix: str, number: str) -> float:
    """The sum of one number over the operations of a service."""
    return sum(numbers.get(number, 0) for name, numbers in operations.items() if name.startswith(prefix))


def per_schedule(reading: Mapping[str, Any], schedules: int) -> PerSchedule:
    """The sums of a run, divided by its schedules; the fixed ones as they are; nothing of the journal."""
    reading = without(LIFECYCLE, reading)
    rows = by_function(reading)
    fixed = sum(numbers["writeUnits"] for numbers in fixed_writes(reading["requests"]))
    attributes = sum(operations.get(f"sqs.{FIXED_SQS}", {}).get("billed", 0) for operations in functions_only(reading))
    enqueuer = reading["requests"].get("stream-enqueuer", {}).get("dynamodb.BatchWriteItem", {})
    minute_task = next((row for row in rows if row.function == MINUTE_TASK), None)
    return PerSchedule(
        writes=(sum(row.write_units for row in rows) - fixed) / schedules,
        reads=sum(row.read_units for row in rows if row is not minute_task) / schedules,
        sqs=(sum(row.sqs + row.mapping for row in rows) - attributes) / schedules,
        invocations=sum(row.invocations for row in rows if row is not minute_task) / schedules,
        fast_track=enqueuer.get("writeUnits", 0) / schedules,
        fixed_writes=fixed,
        fixed_reads=minute_task.read_units if minute_task else 0,
        ticks=minute_task.invocations if minute_task else 0,
    )


def functions_only(reading: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The operations of each function."""
    return (operations for caller, operations in reading["requests"].items() if caller != OUTSIDE)


def fixed_writes(requests: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterable[Mapping[str, float]]:
    """The operations on heartbeat and control rows."""
    for caller, operations in requests.items():
        fixed = {*FIXED_WRITES.get(caller, ()), FIXED_WRITE_ANYWHERE}
        if caller != OUTSIDE:
            yield from (operations[name] for name in (f"dynamodb.{one}" for one in fixed) if name in operations)


def without(functions: Container[str], reading: Mapping[str, Any]) -> dict[str, Any]:
    """The same reading, as if these functions had not been there."""
    return {
        part: {caller: numbers for caller, numbers in callers.items() if caller not in functions}
        for part, callers in reading.items()
    }


def per_call(reading: Mapping[str, Any], calls: int) -> PerCall:
    """A reading of nothing but these calls, divided by them; the ticks that fell into it are left out."""
    rows = at_rest(reading)
    caller, operation = HEARTBEAT
    heartbeats = reading["requests"].get(caller, {}).get(operation, {}).get("writeUnits", 0)
    count = calls or 1
    return PerCall(
        writes=(sum(row.write_units for row in rows) - heartbeats) / count,
        reads=sum(row.read_units for row in rows) / count,
        sqs={row.function: (row.sqs + row.mapping) / count for row in rows if row.sqs + row.mapping},
        invocations={row.function: row.invocations / count for row in rows if row.invocations},
    )


def at_rest(reading: Mapping[str, Any]) -> list[FunctionRequests]:
    """A row for each function but the minute task, which never rests."""
    return by_function(without((MINUTE_TASK,), reading))
