"""Has a row for each function: the sources that start it, and the use case that is given what they bring (ADR 0175).

A stack in memory makes its queues and its sources from these rows, and the pump asks the sources in this order. Tests
compare the rows with the template and with the functions. No function imports this module: it would be a part of each
cold start.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from attrs import frozen

from delayer.engines.filter_policy import FilterPolicy
from delayer.engines.ports import ReceivedMessage
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.tables import LEDGER, OCCURRENCES, RELAXED, SCHEDULES, STREAMED, WAITING
from delayer.wiring.build import build
from delayer.wiring.bundle import Bundle

Handles = Callable[[Sequence[ReceivedMessage]], list[str]]


@frozen(kw_only=True)
class FromStream:
    """The stream of a table, in order, some records at a time."""

    table: str  # as a stack in memory names it
    batch: int = 100  # records at a time, at most
    # The changes that Lambda lets through, as DynamoDB names them; none: all. A stack in memory lets all through: a
    # function leaves alone what it is not for.
    events: tuple[str, ...] = ()
    of_occurrences: bool | None = None  # of the ledger: the rows of occurrences only, or all others only


@frozen(kw_only=True)
class FromQueue:
    """A queue. That of `executor-*` is the one that is named as the function itself."""

    name: str
    hidden: Millis  # its visibility timeout
    batch: int  # messages at a time, at most
    gets: FilterPolicy | None = None  # of the lifecycle topic; None: nothing
    fifo: bool = False


@frozen(kw_only=True)
class EachMinute:
    """The rule that starts what Delayer does each minute."""

    given: str = ""  # the event, as JSON


@frozen(kw_only=True)
class FromCalls:
    """Calls of the API: those of the routes that `openapi.yaml` gives it."""


Source = FromStream | FromQueue | EachMinute | FromCalls


@frozen(kw_only=True)
class Reaction:
    """A function. A name that ends with `*` is all functions whose names begin so and that have no row of their own.

    What answers one who waits, an operator, another function or a call, says itself in its `app.py` which use cases it
    has. Without a source it is only invoked so.
    """

    function: str  # its folder
    timeout: Millis
    sources: tuple[Source, ...]
    use: str = ""  # its use case: a class, or its factory, with its module
    around: str = ""  # what stands around it, which is made in the same way
    gives_back: str = ""  # the part of the bundle to which its guard gives back what is left

    @property
    def queue(self) -> FromQueue | None:
        """The one that it receives from."""
        return next((source for source in self.sources if isinstance(source, FromQueue)), None)

    def made(self, ports: Bundle, **own: Any) -> Any:
        """Its use case, of its bundle. `own` is what no bundle has: a target."""
        return _made(self.use, ports, **own)

    def within(self, ports: Bundle, handle: Handles) -> Any:
        """Returns the handler of its batches, with the guard around it."""
        if not self.around:
            return handle
        own = {"queue": getattr(ports, self.gives_back)} if self.gives_back else {}
        return _made(self.around, ports, handle=handle, **own)


def _made(path: str, ports: Bundle, **own: Any) -> Any:
    module, _, name = path.rpartition(".")
    found = getattr(import_module(f"delayer.{module}"), name)
    return build(found, ports, **own) if isinstance(found, type) else found(ports, **own)


def _row(function: str, seconds: int, use: str = "", *sources: Source, around: str = "", back: str = "") -> Reaction:
    timeout = seconds * SECOND
    return Reaction(function=function, timeout=timeout, sources=sources, use=use, around=around, gives_back=back)


def _queue(name: str, hidden: int, batch: int = 10, gets: FilterPolicy | None = None, *, fifo: bool = False) -> Source:
    return FromQueue(name=name, hidden=hidden * SECOND, batch=batch, gets=gets, fifo=fifo)


ANNOUNCES: Final = "history.announce.Announce"
GUARD: Final = "recovery.guard.Guard"  # handles suspects alone
COUNTS: Final = "recovery.dispatch.CountWaiting"  # what waits for long
EXECUTE: Final = "wiring.use_cases.execute"
STEPS: Final[FilterPolicy] = {
    "kind": [*OCCURRENCES],
    "type": [{"anything-but": [f"delayer.schedule.{one}" for one in ("scheduled", "enqueued", "redriven")]}],
}
FIRST: Final[FilterPolicy] = {"retold": [{"exists": False}]}

MANIFEST: Final[tuple[Reaction, ...]] = (
    # What runs each minute.
    _row("task-1minute-enqueuer", 60, "enqueue.sweep.Tick", EachMinute()),
    _row("task-1minute-timing", 60, "timing.ask.TimingNet", EachMinute()),
    _row("task-1minute-series", 60, "series.use_cases.tick.SeriesTick", EachMinute()),
    _row("operator-id-key", 60, "signing.id_keys.KeepIdKeys", EachMinute(given='{"command": "ensure"}')),
    # What reads the streams.
    _row("stream-enqueuer", 60, "enqueue.enqueue.Enqueue", FromStream(table=SCHEDULES)),
    _row("relaxed-claimer", 60, "relay.claim_relaxed.ClaimRelaxed", FromStream(table=RELAXED, events=("REMOVE",))),
    _row("timing-enqueuer", 60, "timing.ask.EnqueueTiming", FromStream(table=WAITING, events=("INSERT", "REMOVE"))),
    _row(
        *("stream-lifecycle", 120, ANNOUNCES),
        *(FromStream(table=table) for table in STREAMED),
        FromStream(table=LEDGER, of_occurrences=False),
    ),
    _row("stream-occurrences", 120, ANNOUNCES, FromStream(table=LEDGER, of_occurrences=True)),
    # What receives from a queue.
    _row("delayer-relay", 10, "wiring.use_cases.relay", _queue("delayer", 60), around=GUARD, back="delayer_queue"),
    _row("executor-remote", 85, EXECUTE, _queue("executor-*", 510), around=GUARD, back="own_queue"),
    _row("executor-*", 85, EXECUTE, _queue("executor-*", 510), around=GUARD, back="own_queue"),
    _row("sweep-bucket-enqueuer", 60, "enqueue.sweep.SweepBuckets", _queue("sweep", 120, 1), around=COUNTS),
    _row("suspects-dispatcher", 95, "recovery.dispatch.DispatchSuspects", _queue("suspects", 570, 1)),
    _row("policy-*", 60, "timing.decide.Decide", _queue("policy-*", 120, 1)),
    _row("job-group-canceller", 60, "jobs.use_cases.CancelGroup", _queue("group", 120, 1, fifo=True), around=COUNTS),
    _row("series-stepper", 30, "series.use_cases.step.ReactToEvents", _queue("series", 180, gets=STEPS), around=GUARD),
    _row("lifecycle-journal", 60, "wiring.use_cases.write_journal", _queue("journal", 120, gets=FIRST), around=COUNTS),
    _row("subscriber-*", 30, "history.deliver.Deliver", _queue("subscriber-*", 120, 1, gets={})),  # each its own policy
    # What answers calls: `http.routing` says which function answers which.
    _row("api-*", 10, "", FromCalls()),
    _row("api-batch-post", 20, "", FromCalls()),
    _row("api-connection-put", 20, "", FromCalls()),
    _row("api-connection-test", 20, "", FromCalls()),
    # What somebody invokes, and waits for.
    _row("deploy-action-registrar", 60),
    _row("operator-dead-letters", 60),
    _row("operator-flow", 30),
    _row("operator-owner-policy", 30),
)


def reaction_of(function: str) -> Reaction:
    """The row of a function. Raises KeyError if there is none."""
    named = {one.function: one for one in MANIFEST}
    family = function.partition("-")[0] + "-*"
    return named[function] if function in named else named[family]
