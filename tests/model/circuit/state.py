"""All there is of one circuit at one moment: its row, and what some environments know of it.

Time is counted from now on: what is over is 0. A view is of any age between two steps of time, and is then read anew.
"""

from typing import Any, Final

from attrs import frozen

from delayer.flow.rules.block import Block, Party
from delayer.flow.rules.comeback import FASTEST_PACE, FIRST_PACE
from delayer.schedule.instants import SECOND, Millis
from tests.model.state import evolve

PARTY: Final = Party(owner="o", target="http-request t")
NONCES: Final = ("a", "b")  # of schedules that are due, always
STEP: Final[Millis] = 10 * SECOND  # that time passes at a time
ENOUGH: Final = 2  # failures in a row that open a circuit, here
PAUSES: Final = 2  # more than that differ only in how long they take


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    failures: int = 3  # attempts that do not answer; then the target is well
    crashes: int = 0
    lost: int = 0  # answers to writes
    commands: int = 0  # that close it
    environments: int = 2


@frozen(kw_only=True, cache_hash=True)
class Environment:
    """What it knows, and the attempt that it makes."""

    name: str
    view: Block | None = None
    failures: int = 0  # in a row
    nonce: str = ""  # of the attempt under way
    left: Millis = 0  # of the time that this attempt has as a probe
    circuit: int = 0  # which it probes
    opened: int = 0  # how many circuits there had been when it began
    old: int = 0  # of its failures: those of attempts that began before the last circuit was closed


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment."""

    budget: Budget
    row: Block | None = None  # `since` tells one circuit from the next
    circuits: int = 0  # so far
    environments: tuple[Environment, ...] = ()
    has_failed: bool = False  # an attempt
    repeated: frozenset[str] = frozenset()  # what cannot be prevented, and has happened
    broken: str = ""

    @property
    def is_well(self) -> bool:
        """The target answers from now on."""
        return not self.budget.failures

    def spend(self, what: str) -> "World":
        """One fewer may still happen."""
        return evolve(self, budget=evolve(self.budget, **{what: getattr(self.budget, what) - 1}))

    def having(self, environment: Environment, **values: Any) -> "World":
        """One environment is changed."""
        others = [one for one in self.environments if one.name != environment.name]
        changed = sorted([*others, evolve(environment, **values)], key=lambda one: one.name)
        return evolve(self, environments=tuple(changed))


def first(budget: Budget) -> World:
    """Nothing has failed yet."""
    names = "xyz"[: budget.environments]
    return World(budget=budget, environments=tuple(Environment(name=name) for name in names))


def later(block: Block | None) -> Block | None:
    """The same, when time has passed. Its revisions are counted, its pauses only so far as they differ."""
    if block is None:
        return None
    return evolve(block, until=max(block.until - STEP, 0), probe_until=max(block.probe_until - STEP, 0))


def plain(block: Block) -> Block:
    """Without what nobody goes by. Of the paces that are faster than the first one there is one, the fastest."""
    pace = block.every
    if 0 < pace < FIRST_PACE:
        pace = FASTEST_PACE if 2 * pace >= FIRST_PACE else FIRST_PACE
    return evolve(block, pauses=min(block.pauses, PAUSES), reason="", every=pace, paused_until=int(block.is_comeback))


def renumbered(world: World) -> World:
    """Nobody goes by how high a revision is, only by which are the same and which follow each other."""
    blocks = [block for block in (world.row, *(one.view for one in world.environments)) if block]
    numbers: dict[int, int] = {0: 0}
    for revision in sorted({block.revision for block in blocks}):
        before = max(numbers)
        numbers[revision] = numbers[before] + min(revision - before, 2)

    def anew(block: Block | None) -> Block | None:
        return block and evolve(block, revision=numbers[block.revision])

    environments = tuple(evolve(one, view=anew(one.view)) for one in world.environments)
    return evolve(world, row=anew(world.row), environments=environments)
