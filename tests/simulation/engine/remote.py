"""What lies between a function and AWS: each call takes a while, and may fail in every way that calls fail in."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple

from attrs import define, field

from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put
from delayer.engines.store.store import Answer, WriteRefused
from delayer.schedule.instants import MINUTE, SECOND, Millis
from tests.fakes.faults import Crash, failed
from tests.simulation.engine.chance import Chance
from tests.simulation.engine.kernel import Invocation, Kernel, current


class Fault(StrEnum):
    """What goes wrong with one call."""

    BEFORE = "fails before its effect"
    AFTER = "fails after its effect"
    LATE = "times out, and takes effect later"
    TWICE = "takes effect twice, the second time later"
    SLOW = "is slow"
    REPEATED = "takes effect, and is made once more, as nobody has heard of it"
    PARTLY = "does a part of it only"
    CRASH_BEFORE = "the function dies before the effect"
    CRASH_AFTER = "the function dies after the effect"


class Service(StrEnum):
    """What can be out of order as a whole."""

    DYNAMODB = "DynamoDB"
    SQS = "SQS"
    S3 = "S3"
    LAMBDA = "Lambda"
    TARGET = "the target"


READS: Final = frozenset({"get", "get_many", "query", "count", "list", "visible"})  # of the store, of S3, of a queue
PIECEMEAL: Final = ("write_each", "write_all")  # each of their writes fares on its own
REPEATED: Final = 0.3  # of what DynamoDB does and nobody hears of is made once more by the SDK
STRAGGLE: Final[Millis] = 5 * MINUTE  # no request takes effect later than this after it was made


def is_batch(method: str, arguments: Sequence[Any]) -> bool:
    """Whether a request has several writes, each of which is done by itself."""
    return method in PIECEMEAL and len(arguments[0]) > 1


def unanswered(method: str, arguments: Sequence[Any]) -> Any:
    """What a caller makes of no answer. Many writes are reported one by one; else as the fakes have it."""
    if method == "write_each":
        return [Unavailable("write_each: no answer") for _ in arguments[0]]
    if method == "write_all":
        return list(arguments[0])
    return failed(method, tuple(arguments))


@define
class Outage:
    """One service does not answer for a while."""

    service: Service
    since: Millis
    until: Millis
    share: float = 1  # of the calls that fail; less than all: it is throttled, or half of it is out of order


class NotStarted(Crash):
    """Lambda has no function for it: what was to be handled has been seen by none."""


class BadDeploy(Exception):
    """What a new version of a function raises, whatever it is given."""


class Harm(StrEnum):
    """What is wrong with a new version of a function."""

    NO_START = "cannot start"
    DIES = "dies of each message"
    RAISES = "raises at each message"


@define
class Deploy:
    """A version of a function that is rolled back after a while."""

    function: str
    harm: Harm
    since: Millis
    until: Millis

    def is_there(self, function: str, now: Millis) -> bool:
        """Whether this is the version of a function."""
        return self.function == function and self.since <= now < self.until


class Names(NamedTuple):
    """What is drawn for a request of a function, by its name. There are hundred thousands of requests."""

    label: str
    takes: str
    fault: str
    method: str


@define
class Network:
    """All calls of all functions."""

    kernel: Kernel
    chance: Chance
    rate: float  # of faults, per call
    faults: Sequence[Fault]  # which of them this story may have
    outages: Sequence[Outage]
    log: Callable[[str, str], None]  # who, what; for the story
    on_fault: Callable[[Invocation], None]
    on_twin: Callable[[Invocation], None]  # one message became two
    on_send: Callable[[Sequence[Any]], None]  # what a function gives to a queue, whatever becomes of it
    deploys: Sequence[Deploy] = ()
    calls: int = field(default=0, init=False)
    _names: dict[tuple[str, str], "Names"] = field(init=False, factory=dict)  # by function and request

    def is_down(self, service: Service) -> bool:
        """Whether it is within one of its outages: nothing of it answers."""
        return self._share_down(service) >= 1

    def fails(self, service: Service) -> bool:
        """Whether one call of it fails, because it is down or throttled."""
        share = self._share_down(service)
        return share >= 1 or (share > 0 and self.chance.part(f"{service} throttled") < share)

    def _share_down(self, service: Service, then: Millis | None = None) -> float:
        if not self.outages or self.chance.calm:
            return 0
        now = self.kernel.now if then is None else then
        shares = [one.share for one in self.outages if one.service is service and one.since <= now < one.until]
        return max(shares, default=0)

    def suffers(self, function: str, *harms: Harm) -> bool:
        """Whether a version of this function is deployed that does this, or one of these."""
        if not self.deploys or self.chance.calm:
            return False
        now = self.kernel.now
        return any(one.harm in harms and one.is_there(function, now) for one in self.deploys)

    def is_fit(self, function: str, then: Millis) -> bool:
        """Whether it came to the end of what is no killer, and could say so, since nothing was out of order."""
        if any(self._share_down(service, then) >= 1 for service in (Service.LAMBDA, Service.DYNAMODB)):
            return False
        return self.chance.calm or not any(one.is_there(function, then) for one in self.deploys)

    def call(self, name: str, service: Service, do: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """One call of a port, from within a function."""
        invocation = current().invocation
        names = self._names.get((invocation.function, name)) or self._name(invocation.function, name)
        label, method = names.label, names.method
        self.calls += 1
        self.kernel.wait_until(self.kernel.clock.at + self.chance.whole(names.takes, 1, 12))
        if method == "send":
            self.on_send(arguments[0])
        if self.outages and self.fails(service):
            self._hit(invocation, f"{name}: {service} is down", method, undone=True)
            return unanswered(method, arguments)
        if self.chance.surprise(names.fault, self.rate):
            fault = self._which_fault(label, service, method)
            self._hit(invocation, f"{name} {fault}", method, undone=fault in (Fault.BEFORE, Fault.PARTLY))
            if fault is Fault.TWICE and method == "send":
                self.on_twin(invocation)
            return self._spoil(fault, label, method, do, arguments)
        return do(*arguments)

    def _name(self, function: str, name: str) -> "Names":
        label = f"{function} {name}"
        self._names[function, name] = names = Names(label, f"{label} takes", f"{label} fault", name.rpartition(".")[2])
        return names

    def _which_fault(self, label: str, service: Service, method: str) -> Fault:
        fault = self.chance.one_of(f"{label} which fault", self.faults)
        if service is Service.TARGET and fault in (Fault.LATE, Fault.TWICE):
            return Fault.AFTER  # to the target it makes no difference
        if fault is Fault.AFTER and method in READS:
            return Fault.BEFORE  # whoever is not answered has read nothing
        if fault is Fault.AFTER and service is Service.DYNAMODB and self.chance.part(f"{label} again") < REPEATED:
            return Fault.REPEATED
        return fault

    def _hit(self, invocation: Invocation, what: str, method: str, *, undone: bool) -> None:
        """An attempt is repeated if its outcome can neither be written nor sent; a hand-over, only if nobody heard that
        it was made.
        """
        invocation.disturbed = True
        is_flow = what.startswith("blocks.")  # a block for which an attempt waits is no reason for another one
        if is_flow and method in READS:
            invocation.is_blind = invocation.ends_blind = True
        unsent = method == "send" and invocation.function.startswith("executor")
        if method not in READS and not is_flow and (not undone or unsent):
            self.on_fault(invocation)
        self.log(str(invocation), what)

    def _spoil(self, fault: Fault, label: str, method: str, do: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        match fault:
            case Fault.BEFORE:
                return unanswered(method, arguments)
            case Fault.AFTER | Fault.REPEATED:
                self._some(label, method, do, arguments)
                return do(*arguments) if fault is Fault.REPEATED else unanswered(method, arguments)
            case Fault.LATE:
                self._each_later(label, method, do, arguments)
                return unanswered(method, arguments)
            case Fault.TWICE:
                self._each_later(label, method, do, arguments)
                return do(*arguments)
            case Fault.SLOW:
                self.kernel.wait_until(self.kernel.now + self.chance.whole(f"{label} slow", 100, 15 * SECOND))
                return do(*arguments)
            case Fault.PARTLY:
                return self._partly(label, method, do, arguments)
            case Fault.CRASH_AFTER:
                self._some(label, method, do, arguments)
        current().invocation.dead = True
        raise Crash(label)

    def _some(self, label: str, method: str, do: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """The effect of a request that nobody hears of. Of several writes, any part. What is refused has none."""
        with suppress(WriteRefused):
            if not is_batch(method, arguments):
                do(*arguments)
                return
            done = [one for one in arguments[0] if self.chance.part(f"{label} part") < 0.5]
            do(done or arguments[0][:1])

    def _each_later(self, label: str, method: str, do: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Of several writes, each in its own time."""
        for each in [([one],) for one in arguments[0]] if is_batch(method, arguments) else [arguments]:
            self._later(label, do, each)

    def _throttled(self, label: str, do: Callable[..., Any], puts: Sequence[Put]) -> list[Answer]:
        """The request has succeeded, and some of its writes have not."""
        done = [self.chance.part(f"{label} part") < 0.5 for _ in puts]
        answers = iter(do([put for put, taken in zip(puts, done, strict=True) if taken]))
        return [next(answers) if taken else Unavailable("write_each: ThrottlingError") for taken in done]

    def _later(self, label: str, do: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """The request is on its way for a while longer; whatever it comes to then, nobody hears of it."""
        if label.rpartition(".")[2] in READS:
            return

        def arrive() -> None:
            try:
                do(*arguments)
            except (WriteRefused, Unavailable) as error:
                self.log("AWS", f"a straggler, {label}: {error}")

        straggle = self.chance.one_of(f"{label} how late", (SECOND, 15 * SECOND, MINUTE, STRAGGLE))
        self.kernel.at(self.kernel.now + self.chance.whole(f"{label} late", 1, straggle), arrive)

    def _partly(self, label: str, method: str, do: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        if method != "send" and not is_batch(method, arguments):
            return unanswered(method, arguments)
        if method == "write_each":
            return self._throttled(label, do, arguments[0])
        things = list(arguments[0])
        done = [self.chance.part(f"{label} part") < 0.5 for _ in things]
        do([thing for thing, taken in zip(things, done, strict=True) if taken])
        left = [position for position, taken in enumerate(done) if not taken]
        return left if method == "send" else [things[position] for position in left]


class Remote:
    """A port that stands on no store, behind the network: a queue, S3, a target."""

    def __init__(self, port: Any, label: str, service: Service, network: Network) -> None:
        self._port = port
        self._label = label
        self._service = service
        self._network = network

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        label = f"{self._label}.{name}"

        def call(*arguments: Any, **named: Any) -> Any:
            do = partial(method, **named) if named else method
            return self._network.call(label, self._service, do, arguments)

        setattr(self, name, call)  # the next time it is there
        return call
