"""What AWS would bill, from a reading of the emulator's meter. No input or output here."""

from collections.abc import Container, Iterable, Mapping

from attrs import frozen

from local.emulator.metering.meter import Numbers, Reading

MAPPING = "(event source mapping)"
MINUTE_TASK = "task-1minute-enqueuer"
OUTSIDE = "unknown"  # the benchmark's own requests
# Each of these writes one heartbeat or one control row, however many schedules are due. That is a fixed cost.
FIXED_WRITES = {MINUTE_TASK: ("PutItem", "DeleteItem", "UpdateItem")}
FIXED_WRITE_OF_ALL = "UpdateItem"  # only control rows are updated
FIXED_SQS = "GetQueueAttributes"
# They report what has happened and take no part in it. With Lifecycle=off they do nothing.
LIFECYCLE = ("stream-lifecycle", "stream-occurrences", "lifecycle-journal")
STEPPER = "series-stepper"
SERIES_TASK = "task-1minute-series"  # it queries each minute, also without any series
HEARTBEAT = ("stream-enqueuer", "dynamodb.UpdateItem")  # notes that it received the heartbeat


@frozen(kw_only=True)
class FunctionRequests:
    """What one function used in a whole run."""

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
    fast_track: float  # the share that the stream-enqueuer deleted; the minute task swept the rest
    fixed_writes: float  # write units on heartbeat and control rows, in the whole run
    fixed_reads: float  # read units of the minute task, in the whole run
    ticks: float  # of the minute task in the run


@frozen(kw_only=True)
class PerCall:
    """What one call of the API used, including the work of streams and queues after its response."""

    writes: float  # write units
    reads: float  # read units
    sqs: Mapping[str, float]  # requests by function, including its event source mapping; only functions with any
    invocations: Mapping[str, float]  # by function


def by_function(reading: Reading) -> list[FunctionRequests]:
    """A row for each function that did something, by name."""
    names = sorted((reading["requests"].keys() | reading["invocations"].keys()) - {OUTSIDE})
    return [function_row(name, reading) for name in names]


def function_row(function: str, reading: Reading) -> FunctionRequests:
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


def total(operations: Mapping[str, Numbers], prefix: str, number: str) -> float:
    """The sum of one number over the operations of a service."""
    return sum(numbers.get(number, 0) for name, numbers in operations.items() if name.startswith(prefix))


def per_schedule(reading: Reading, schedules: int) -> PerSchedule:
    """The sums of a run, divided by its schedules. Fixed sums are not divided; the journal and series are left out."""
    return per_occurrence(without((STEPPER,), reading), schedules)


def per_occurrence(reading: Reading, occurrences: int) -> PerSchedule:
    """The same for the occurrences of series, with their steps."""
    reading = without((*LIFECYCLE, SERIES_TASK), reading)
    rows = by_function(reading)
    fixed = sum(numbers["writeUnits"] for numbers in fixed_writes(reading))
    attributes = sum(
        operations.get(f"sqs.{FIXED_SQS}", {}).get("billed", 0) for operations in operations_of_functions(reading)
    )
    enqueuer = reading["requests"].get("stream-enqueuer", {}).get("dynamodb.BatchWriteItem", {})
    minute_task = next((row for row in rows if row.function == MINUTE_TASK), None)
    return PerSchedule(
        writes=(sum(row.write_units for row in rows) - fixed) / occurrences,
        reads=sum(row.read_units for row in rows if row is not minute_task) / occurrences,
        sqs=(sum(row.sqs + row.mapping for row in rows) - attributes) / occurrences,
        invocations=sum(row.invocations for row in rows if row is not minute_task) / occurrences,
        fast_track=enqueuer.get("writeUnits", 0) / occurrences,
        fixed_writes=fixed,
        fixed_reads=minute_task.read_units if minute_task else 0,
        ticks=minute_task.invocations if minute_task else 0,
    )


def operations_of_functions(reading: Reading) -> Iterable[Mapping[str, Numbers]]:
    """The operations of each function of the stack."""
    return (operations for caller, operations in reading["requests"].items() if caller != OUTSIDE)


def fixed_writes(reading: Reading) -> Iterable[Numbers]:
    """The operations on heartbeat and control rows."""
    for caller, operations in reading["requests"].items():
        fixed = {*FIXED_WRITES.get(caller, ()), FIXED_WRITE_OF_ALL}
        if caller != OUTSIDE:
            yield from (operations[name] for name in (f"dynamodb.{one}" for one in fixed) if name in operations)


def without(functions: Container[str], reading: Reading) -> Reading:
    """The same reading without these functions."""
    return Reading(
        requests={caller: sums for caller, sums in reading["requests"].items() if caller not in functions},
        invocations={caller: sums for caller, sums in reading["invocations"].items() if caller not in functions},
    )


def per_call(reading: Reading, calls: int) -> PerCall:
    """A reading of these calls alone, divided by their number. The ticks of the minute task meanwhile are left out."""
    rows = rows_without_minute_task(reading)
    caller, operation = HEARTBEAT
    heartbeats = reading["requests"].get(caller, {}).get(operation, {}).get("writeUnits", 0)
    count = calls or 1
    return PerCall(
        writes=(sum(row.write_units for row in rows) - heartbeats) / count,
        reads=sum(row.read_units for row in rows) / count,
        sqs={row.function: (row.sqs + row.mapping) / count for row in rows if row.sqs + row.mapping},
        invocations={row.function: row.invocations / count for row in rows if row.invocations},
    )


def rows_without_minute_task(reading: Reading) -> list[FunctionRequests]:
    """A row for each function except the minute task, which also works when there is nothing to do."""
    return by_function(without((MINUTE_TASK,), reading))
