"""All there is at one moment: a value that can be compared and kept in a set."""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Final, Self, TypeVar, cast

from attrs import fields, frozen

from delayer.actions.rules.model import Result
from delayer.ledger.model import Arrival, LedgerRow
from delayer.ledger.rules import at_rest_from
from delayer.schedule.instants import ATTEMPT_OVER, DAY, SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, OutcomeMessage
from tests.samples import NOW, a_schedule
from tests.world import LEAD, LEASE

DUE: Final[Millis] = NOW
VISIBILITY: Final[Millis] = 30 * SECOND
EXECUTOR_TIMEOUT: Final[Millis] = 85 * SECOND
INSTANTS: Final = (  # where time stops, from the due time
    -600 * SECOND,  # posted, and within the delayer period
    -3 * SECOND,  # it may be held
    -LEAD,
    0,
    LEASE,  # the lease of whoever claimed by now has lapsed
    2 * VISIBILITY,
    2 * VISIBILITY + ATTEMPT_OVER,  # no attempt from before an end is under way
    31 * DAY,  # its ledger row has expired
)
RETRY_AT: Final[Millis] = DUE + 2 * VISIBILITY  # of an attempt that waits for longer than SQS can delay
LONG_AFTER: Final = INSTANTS.index(2 * VISIBILITY)  # what still waits then may wait until it is given up
AT_REST: Final = INSTANTS.index(2 * VISIBILITY + ATTEMPT_OVER)
AFTER_ALL: Final[Millis] = DUE + 100 * DAY
Setters = dict[str, Callable[[Any, Any], None]]
KNOWN: Final = 65_536  # how many answers are kept, of questions that are asked again and again
HASH: Final = "_attrs_cached_hash"  # the field in which attrs keeps the hash
Thing = TypeVar("Thing")
OLD, NEW = "old", "new"
PLANNED: Final = "planned"  # the first attempt, and one for each that failed; whatever else is done has another reason
CRASH: Final = "repeated after a crash"
DUPLICATE: Final = "a duplicate overlaps a running attempt"
OVERTAKEN: Final = "an attempt that is overtaken while it runs"
TWIN: Final = "a twin that runs already when it is overtaken"
CARRIED: Final = "repeated while its outcome is carried"
UNCARRIED: Final = "repeated because its outcome was neither written nor carried"
REDRIVEN: Final = "redriven by an operator"
SCHEDULES: Final = {
    OLD: a_schedule(DUE),
    NEW: a_schedule(DUE, randomness=bytes(range(50, 58))),
}
NAME_OF: Final = {schedule.id: name for name, schedule in SCHEDULES.items()}


def evolve(thing: Thing, **changes: Any) -> Thing:
    """As that of attrs, which looks up the fields anew each time: here that is a quarter of a search.

    What is of the model itself has nothing to convert or to check: its fields are copied, and it is made by nobody.
    """
    kind: Any = type(thing)
    names, values_of, setters = _fields_of(kind)
    if setters is None:
        return cast("Thing", kind(**{**dict(zip(names, values_of(thing), strict=True)), **changes}))
    new = object.__new__(kind)
    for put, value in zip(setters.values(), values_of(thing), strict=True):
        put(new, value)
    for name, value in changes.items():
        setters[name](new, value)
    if hasattr(kind, HASH):
        object.__setattr__(new, HASH, None)
    return cast("Thing", new)


class Moving:
    """What worlds have in common in which functions run: these begin, go on and are over, and faults are used up."""

    __slots__ = ()

    @property
    def budget(self) -> Any:
        """What may still happen, and how often."""
        raise NotImplementedError

    @property
    def runs(self) -> frozenset[Any]:
        """The functions between two of their calls."""
        raise NotImplementedError

    def spend(self, what: str) -> Self:
        """One fewer may still happen."""
        return evolve(self, budget=evolve(self.budget, **{what: getattr(self.budget, what) - 1}))

    def start(self, run: Any) -> Self:
        """A function has begun."""
        return evolve(self, runs=self.runs | {run})

    def end(self, run: Any) -> Self:
        """A function is over."""
        return evolve(self, runs=self.runs - {run})

    def go_on(self, run: Any, **values: Any) -> Self:
        """A function goes on to its next call."""
        return evolve(self, runs=(self.runs - {run}) | {evolve(run, **values)})


@cache
def _fields_of(kind: Any) -> tuple[tuple[str, ...], Callable[[Any], Any], Setters | None]:
    """Their names, what reads all of them, and what writes each though it is frozen; None if that skipped a check."""
    names = tuple(field.name for field in fields(kind))
    is_plain = not any(field.converter or field.validator or not field.init for field in fields(kind))
    is_own = kind.__module__.startswith("tests.model.") and kind.__dictoffset__ == 0 and len(names) > 1
    if not (is_plain and is_own and not hasattr(kind, "__attrs_post_init__")):
        return names, attrgetter(*names), None
    return names, attrgetter(*names), {name: getattr(kind, name).__set__ for name in names}


@frozen
class Copy:
    """A message in the delayer queue, or among its suspects."""

    name: str
    nonce: str
    again: int = 0  # how often it was sent once more: another message with the same nonce

    @property
    def message(self) -> DelayerMessage:
        """What is in it."""
        return DelayerMessage(schedule=SCHEDULES[self.name], nonce=self.nonce)


Message = Copy | ExecutorMessage | OutcomeMessage


@frozen(kw_only=True, cache_hash=True)
class Relay:
    """A run of delayer-relay with one message; see relay/relay.py."""

    copy: Copy
    at: str  # held, waiting, claiming, handing over, settling
    until: Millis  # the last instant before its timeout
    seen: LedgerRow | None = None  # the row that its claim goes over
    fence: str = ""
    claims_at: Millis = 0  # when it began to claim


@frozen(kw_only=True, cache_hash=True)
class Executor:
    """A run of an executor with one message; see execute/execute.py."""

    message: ExecutorMessage | OutcomeMessage
    at: str  # received, taking, hopping, attempting, ending, contesting, sending, carrying, settling
    until: Millis  # the last instant before its timeout
    row: LedgerRow | None = None  # what it read
    wanted: LedgerRow | None = None  # what it is about to write
    following: ExecutorMessage | None = None  # what it is about to send
    result: Result | None = None  # what the target answered to it; it is not written yet

    @property
    def is_attempt(self) -> bool:
        """From the decision on until its outcome is written or carried."""
        return self.at == "attempting" or self.result is not None


@frozen(kw_only=True, cache_hash=True)
class GivingUp:
    """A run of a relay or an executor that makes a dead letter; see dead_letters/dead_letter.py."""

    message: Message
    at: str  # waiting, stored, marked, settling
    is_suspect: bool = True  # whether it is given up again, if its function dies: the proofs against it stay noted


@frozen(kw_only=True, cache_hash=True)
class Redrive:
    """An operator's command under way; see dead_letters/redrive.py."""

    body: tuple[str, str]
    at: str  # read, reopened, sent
    row: LedgerRow | None = None  # what it read
    nonce: str = ""  # of the copy that it sends


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """How often each fault may still happen."""

    crashes: int = 1
    puts: int = 1  # a put retried: the record is there again
    removals: int = 1  # a stream record handled twice
    copies: int = 1  # a message of the delayer queue delivered twice
    deliveries: int = 1  # a message of the executor's queue delivered twice
    refusals: int = 1  # attempts that the target does not accept
    unanswered: int = 1  # sends to SQS that are reported as not sent: they arrived, or they did not
    hops: int = 0  # times that a message comes before its attempt may be made, as SQS cannot delay it for longer
    closures: int = (
        0  # times that a gate is closed for a message whose attempt could be made: it is put off, or given up
    )
    waits: int = 0  # times that a relay finds the gate closed: its message is sent again, with the same nonce
    unwritten: int = 1  # writes of an outcome that the ledger does not answer: it wrote them, or it did not
    given_up: int = 1  # a relay or an executor gives up a suspect
    redrives: int = 1
    cancels: int = 1
    stops: int = 1
    replacements: int = 0


def in_order(things: frozenset[Thing]) -> Iterable[Thing]:
    """Always the same, so that a search is repeatable."""
    return _in_order(things) if len(things) > 1 else things


@lru_cache(maxsize=KNOWN)
def _in_order(things: frozenset[Thing]) -> tuple[Thing, ...]:
    return tuple(sorted(things, key=str))


def seen_as(instant: Millis) -> Millis:
    """The first moment of the model that is not before it: nothing here can tell the two apart."""
    return next((DUE + one for one in INSTANTS if DUE + one >= instant), AFTER_ALL)


def last_before(instant: Millis) -> Millis:
    """The last moment of the model that is not after it."""
    return max(DUE + one for one in INSTANTS if DUE + one <= instant)


def name_of(message: Message) -> str:
    """Whose message it is."""
    return message.name if isinstance(message, Copy) else NAME_OF[message.schedule.id]


def label_of(message: Message) -> str:
    """What it is called in a story; also what tells the key of its body from others."""
    match message:
        case Copy():
            return message.nonce + "'" * message.again
        case OutcomeMessage():
            return f"the outcome '{message.outcome}' of {message.fence}"
    return message.fence


def same_token(message: ExecutorMessage) -> ExecutorMessage:
    """Another message with the same fencing token. No function sends one: only a guard that is taken out lets it."""
    return evolve(message, fence=f"{message.fence}'")


def token_of(message: ExecutorMessage | OutcomeMessage) -> str:
    """Its fencing token, without what tells it from another message with the same one."""
    return message.fence.rstrip("'")


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment."""

    now: int = 0  # which of the instants
    budget: Budget = Budget()
    table: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()  # REMOVE records in the stream, not handled yet
    copies: frozenset[Copy] = frozenset()  # messages in the delayer queue, not deleted
    free: frozenset[Copy] = frozenset()  # those of them that can be received
    relays: frozenset[Relay] = frozenset()
    handed: frozenset[ExecutorMessage | OutcomeMessage] = frozenset()  # messages in the executor's queue, not deleted
    open: frozenset[ExecutorMessage | OutcomeMessage] = frozenset()  # those of them that can be received
    executors: frozenset[Executor] = frozenset()
    rows: tuple[tuple[str, LedgerRow], ...] = ()
    letters: frozenset[tuple[str, str]] = frozenset()  # bodies: name, and what tells its key from others of the name
    giving_up: frozenset[GivingUp] = frozenset()
    redriving: Redrive | None = None
    over: frozenset[str] = frozenset()  # an end of theirs was written
    revoked: bool = False  # old was cancelled or replaced
    replaced: bool = False
    stopped: bool = False  # old was stopped
    was_redriven: bool = False
    sends: int = 0  # to the delayer queue, so far; they number the nonces
    resends: int = 0  # of retries, so far; they number the tokens that no row has
    hand_overs: frozenset[tuple[str, str]] = frozenset()  # name and nonce
    twice: frozenset[str] = frozenset()  # fencing tokens of messages that SQS has delivered twice
    allowed: tuple[tuple[str, str], ...] = ((OLD, PLANNED),)  # attempts that may still be made: name, and why
    repeated: frozenset[str] = frozenset()  # why attempts were made that the retry policy did not plan
    broken: str = ""

    @property
    def time(self) -> Millis:
        """The time of day."""
        return DUE + INSTANTS[self.now]

    def row(self, name: str) -> LedgerRow | None:
        """What the ledger says."""
        return dict(self.rows).get(name)

    def with_row(self, name: str, row: LedgerRow | None) -> "World":
        """After a write. What nothing here goes by is left out, so that fewer states differ."""
        rows = {key: value for key, value in self.rows if key != name}
        if row is not None:
            rows[name] = _plain(row)
        over = self.over | {name} if row is not None and row.ended else self.over
        return evolve(self, rows=tuple(sorted(rows.items(), key=lambda pair: pair[0])), over=over)

    def allow(self, name: str, why: str) -> "World":
        """One attempt more."""
        return evolve(self, allowed=tuple(sorted((*self.allowed, (name, why)))))

    def use_up(self, name: str) -> "World":
        """An attempt is made: the planned one, if there is one."""
        whys = [why for allowed, why in self.allowed if allowed == name]
        if not whys:
            return evolve(self, broken=f"{name} reaches the target once more, without a reason")
        why = PLANNED if PLANNED in whys else whys[0]
        left = list(self.allowed)
        left.remove((name, why))
        return evolve(self, allowed=tuple(left), repeated=self.repeated | ({why} - {PLANNED}))

    def repeat(self, message: ExecutorMessage | OutcomeMessage, why: str) -> "World":
        """An attempt begins. If another one for the same is not known to be over, it may be made beside that one.

        `why` is the reason if it is that of another message, which had begun before there were several.
        """
        name = name_of(message)
        running = [
            run
            for run in self.executors
            if run.is_attempt and name_of(run.message) == name and run.message.attempt == message.attempt
        ]
        others = [run for run in running if token_of(run.message) != token_of(message)]
        if why and any(run.row and run.row.arrival is not Arrival.TAKEN for run in others):
            return self.allow(name, why)
        if message.fence in self.twice and any(run.message == message for run in running):
            return self.allow(name, DUPLICATE)
        carriers = [one for one in self.handed if isinstance(one, OutcomeMessage) and one != message]
        if any(one.attempt == message.attempt and name_of(one) == name for one in carriers):
            return self.allow(name, CARRIED)
        return self

    def spend(self, what: str) -> "World":
        """One fault fewer may still happen."""
        return evolve(self, budget=evolve(self.budget, **{what: getattr(self.budget, what) - 1}))

    def next_nonce(self) -> str:
        """That of the next send."""
        return f"n{self.sends + 1}"

    def send(self, name: str, nonce: str = "") -> tuple["World", Copy]:
        """A message in the delayer queue, with a fresh nonce unless one is given."""
        copy = Copy(name, nonce or self.next_nonce())
        return evolve(self, sends=self.sends + 1, copies=self.copies | {copy}, free=self.free | {copy}), copy

    def send_again(self, copy: Copy) -> "World":
        """A message that waits is another one with the same nonce."""
        again = evolve(copy, again=copy.again + 1)
        return evolve(self, copies=self.copies | {again}, free=self.free | {again})

    def put(self, message: ExecutorMessage | OutcomeMessage) -> "World":
        """A message in the executor's queue."""
        return evolve(self, handed=self.handed | {message}, open=self.open | {message})

    def delete(self, message: Message) -> "World":
        """It is gone, though it may be in the hands of another function as well."""
        if isinstance(message, Copy):
            return evolve(self, copies=self.copies - {message}, free=self.free - {message})
        return evolve(self, handed=self.handed - {message}, open=self.open - {message})

    def give_back(self, message: Message) -> "World":
        """It comes again."""
        if isinstance(message, Copy):
            return evolve(self, free=self.free | {message})
        return evolve(self, open=self.open | {message})


@lru_cache(maxsize=KNOWN)
def _plain(row: LedgerRow) -> LedgerRow:
    lease_until = seen_as(row.lease_until) if row.lease_until else 0
    at_rest = seen_as(at_rest_from(row)) if at_rest_from(row) else 0
    return evolve(
        row,
        at=at_rest - ATTEMPT_OVER if at_rest > lease_until else 0,
        lease_until=lease_until,
        expires_at=seen_as(row.expires_at),
        claimed_at=min(row.claimed_at, 1),
        stopped_at=min(row.stopped_at, 1),
        lateness=0,
        detail="",
    )
