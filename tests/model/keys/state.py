"""All there is of one idempotency key, and of the schedules that its calls are about, at one moment."""

from attrs import frozen

from delayer.ledger.model import State
from tests.model.state import Moving

OLD = "old"


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    route: str = "PATCH"  # or `PUT`, or `PUT if none`
    calls: int = 2  # equal ones, with the key: at the same time, or one after the other
    others: int = 0  # with the key, and another body
    strangers: int = 0  # of the same route, without the key
    ends: int = 0  # schedules that are claimed, or cancelled
    crashes: int = 0  # of a function between two of its steps: its client knows nothing


@frozen(kw_only=True, cache_hash=True)
class Effect:
    """What a call has done, and is answered."""

    new: str
    replaces: str


@frozen(kw_only=True, cache_hash=True)
class KeyRow:
    """The row of the key."""

    body: str
    effect: Effect


@frozen(kw_only=True, cache_hash=True)
class Run:
    """A call at work, between two of its steps."""

    number: int
    body: str  # empty: it has no key
    at: str = ""
    holder: str = ""  # the schedule that it is about, as it was read
    state: State | None = None  # and its state
    effect: Effect | None = None  # what it has done


@frozen(kw_only=True, cache_hash=True)
class World(Moving):
    """One moment."""

    budget: Budget
    states: tuple[tuple[str, State], ...] = ()  # of all schedules
    name: str = ""  # the schedule that has the name
    row: KeyRow | None = None
    effects: tuple[tuple[str, Effect], ...] = ()  # what was done, by body
    runs: frozenset[Run] = frozenset()
    begun: int = 0
    broken: str = ""

    def state(self, schedule: str) -> State | None:
        """What the ledger says."""
        return dict(self.states).get(schedule)

    def done(self, body: str) -> list[Effect]:
        """What calls with this body have done."""
        return [effect for one, effect in self.effects if one == body]
