"""All there is at one moment of executors that work by batch: rows, messages, two environments with what they have.

An item is a message in the hands of an environment, and where it is in the order of ADR 0180. Time is counted in
halves of a second from the point in time: as long as a row may be old before its attempt.
"""

from functools import lru_cache
from typing import Any, Final

from attrs import frozen

from delayer.flow.rules.block import Block, Party, opened, probing
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.rules import Claim, decide_claim
from delayer.relay.relay import first_attempt
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, OutcomeMessage
from tests.model.state import evolve
from tests.samples import LEASE, NOW, OWNER, a_schedule

HALF: Final[Millis] = SECOND // 2
DUE: Final[Millis] = NOW
PARTY: Final = Party(owner=OWNER, target="http-request target")
SCHEDULES: Final = {"a": a_schedule(DUE), "b": a_schedule(DUE, randomness=bytes(range(50, 58)))}
NAME_OF: Final = {schedule.id: name for name, schedule in SCHEDULES.items()}
Message = ExecutorMessage | OutcomeMessage

CRASH: Final = "repeated after a crash"
DUPLICATE: Final = "a duplicate overlaps a running attempt"
OVERTAKEN: Final = "an attempt that is overtaken while it runs"
TWIN: Final = "a twin that runs already when it is overtaken"
CARRIED: Final = "repeated while its outcome is carried"
UNCARRIED: Final = "repeated because its outcome was neither written nor carried"
BETWEEN: Final = "overtaken between its read and its attempt"

BEGUN: Final = "begun"
DEAD, WRITTEN, UNCOUNTED, LOST = "dead", "written", "uncounted", "lost"  # what became of an attempt that is over


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often; and what there is at first."""

    crashes: int = 0
    deliveries: int = 0  # a message delivered once more while it is not deleted
    failures: int = 0  # attempts that the target does not accept
    slow: int = 0  # attempts that are answered after everything else
    unwritten: int = 0  # requests to the ledger that are not answered
    unanswered: int = 0  # sends that are reported as not sent: they arrived, or they did not
    halves: int = 0  # of a second, that pass
    stops: int = 0  # of the first schedule
    cancels: int = 0  # the same
    claims: int = 0  # claims that are made once more after the lease
    not_now: int = 0  # attempts that cannot be begun when all is ready, for want of time
    closures: int = 0  # times that a copy is put off by its gate
    is_claimed: bool = True  # the first schedule
    is_early: bool = False  # it is handed over half a second before it is due
    is_alone: bool = False  # there is no second schedule
    seats: int = 0  # of a limit of attempts at a time; 0: there is none
    circuit: str = ""  # `over`: its pause is; `named`: and a relay has named the first schedule


@frozen(kw_only=True, cache_hash=True)
class Item:
    """One message in the hands of an environment."""

    message: Message
    # then probing, taking, ready, attempting, ending, writing, hopping, contesting, sending, carrying, settled
    at: str = "in hand"
    row: LedgerRow | None = None  # what it goes by
    read_at: int = 0  # when that was read or written
    wanted: LedgerRow | None = None  # what it is about to write
    following: ExecutorMessage | None = None  # what it sends then
    again: Millis = 0  # when it is to be looked at again: it is too early
    result: str = ""  # of its attempt, as long as that is written nowhere: done, retry
    is_slow: bool = False
    has_taken: bool = False  # its attempt, in the ledger, before it was begun
    seat: bool = False
    circuit: Block | None = None  # the row that it has read
    receipt: str = ""  # for which it would hold a probe


@frozen(kw_only=True, cache_hash=True)
class Environment:
    """One execution environment with its batch."""

    items: tuple[Item, ...] = ()
    seats: int = 0  # that it has taken


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment."""

    budget: Budget
    now: int = 0
    rows: tuple[tuple[str, LedgerRow], ...] = ()
    copies: frozenset[str] = frozenset()  # of the delayer queue, which a relay may claim
    handing: tuple[ExecutorMessage, ...] = ()  # claimed, and not handed over yet
    messages: frozenset[Message] = frozenset()  # of the executors' queue, not deleted
    open: tuple[Message, ...] = ()  # deliveries that can be received
    environments: tuple[Environment, ...] = (Environment(), Environment())
    dead_seats: int = 0  # of environments that have died
    orphans: int = 0  # attempts whose environment has died, and whose target may be at work still
    circuit: Block | None = None
    has_died: bool = False
    twice: frozenset[str] = frozenset()  # tokens of messages that were delivered twice
    past: frozenset[tuple[str, int, str]] = frozenset()  # of attempts: name, number, what became of them
    repeated: frozenset[str] = frozenset()  # why an attempt was made once more
    stopped_at: int | None = None
    is_revoked: bool = False  # the first schedule was cancelled
    sends: int = 0
    broken: str = ""

    @property
    def time(self) -> Millis:
        """The time of day."""
        return DUE + self.now * HALF

    @property
    def is_done(self) -> bool:
        """Whether all has come to its end."""
        idle = not any(one.items or one.seats for one in self.environments)
        return idle and not self.messages and not self.copies and not self.handing

    def row(self, name: str) -> LedgerRow | None:
        """What the ledger says."""
        return dict(self.rows).get(name)

    def with_row(self, name: str, row: LedgerRow) -> "World":
        """After a write."""
        rows = dict(self.rows) | {name: plain(row)}
        return evolve(self, rows=tuple(sorted(rows.items(), key=lambda pair: pair[0])))

    def spend(self, what: str) -> "World":
        """One fewer may still happen."""
        return evolve(self, budget=evolve(self.budget, **{what: getattr(self.budget, what) - 1}))

    def with_items(self, number: int, items: tuple[Item, ...]) -> "World":
        """Those of one environment."""
        all_of_them = list(self.environments)
        all_of_them[number] = evolve(all_of_them[number], items=items)
        return evolve(self, environments=tuple(all_of_them))

    def having(self, number: int, place: int, /, **values: Any) -> "World":
        """One item is changed."""
        items = list(self.environments[number].items)
        items[place] = evolve(items[place], **values)
        return self.with_items(number, tuple(items))

    def without(self, number: int, at: int) -> "World":
        """One item is out of the hands of its environment."""
        items = self.environments[number].items
        return self.with_items(number, items[:at] + items[at + 1 :])

    def put(self, message: Message) -> "World":
        """Into the queue."""
        return evolve(self, messages=self.messages | {message}, open=in_order((*self.open, message)))

    def all_items(self) -> list[Item]:
        """Of both environments."""
        return [item for one in self.environments for item in one.items]


def first(budget: Budget) -> World:
    """All is claimed and handed over, or about to be."""
    world = World(budget=budget, now=-1 if budget.is_early else 0)
    for name in ("a",) if budget.is_alone else ("a", "b"):
        if name == "a" and not budget.is_claimed:
            world = evolve(world, copies=frozenset({name}))
            continue
        change = decide_claim(claim_of(name, f"{name}1", DUE - HALF), None)
        assert isinstance(change, LedgerChange)
        world = world.with_row(name, change.row).put(first_attempt(copy_of(name), f"{name}1"))
        world = evolve(world, copies=world.copies | {name} if budget.claims else world.copies)
    if budget.circuit:
        circuit = evolve(opened(PARTY, 0, ""), until=0)
        world = evolve(world, circuit=probing(circuit, "na", 0) if budget.circuit == "named" else circuit)
    return world


def copy_of(name: str) -> DelayerMessage:
    """The message of the delayer queue."""
    return DelayerMessage(schedule=SCHEDULES[name], nonce=f"n{name}")


def claim_of(name: str, fence: str, now: Millis) -> Claim:
    """The claim that a relay asks for with it."""
    return Claim(message=copy_of(name), fence=fence, now=now, lease=LEASE)


def name_of(message: Message) -> str:
    """Whose it is."""
    return NAME_OF[message.schedule.id]


def label_of(message: Message) -> str:
    """What it is called in a story."""
    return f"the outcome of {message.fence}" if isinstance(message, OutcomeMessage) else message.fence


def in_order(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Always the same."""
    return tuple(sorted(messages, key=label_of))


@lru_cache(maxsize=65_536)
def plain(row: LedgerRow) -> LedgerRow:
    """Without what nobody goes by here."""
    return evolve(
        row,
        at=0,
        lease_until=0,
        expires_at=DUE * 2,
        claimed_at=min(row.claimed_at, 1),
        stopped_at=min(row.stopped_at, 1),
        attempted_at=0,
        age_from=0,
        lateness=0,
        detail="",
    )
