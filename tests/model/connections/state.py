"""All there is of one connection at one moment: a value that can be compared and kept in a set.

Time is not modelled: a sweep may come at any moment, though it waits ten minutes. So no PUT is too slow to be safe, but
for one thing: the request that makes its secret does not arrive ten minutes late.
"""

from attrs import frozen

from delayer.connections.model import Connection, ConnectionType, SecretNote
from tests.model.state import Moving

OWNER, NAME = "owner", "crm"


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    puts: int = 0
    deletes: int = 0
    forced: int = 0
    posts: int = 0
    patches: int = 0
    reads: int = 0  # by an executor
    crashes: int = 0
    lost: int = 0  # answers of transactions: whoever waits for one knows nothing


@frozen(kw_only=True, cache_hash=True)
class Run:
    """A function at work, between two of its calls."""

    kind: str
    at: str = ""
    row: Connection | None = None  # what it read
    secret: str = ""  # which it has made, or works at
    members: tuple[str, ...] = ()  # the page of uses that it read
    again: bool = False  # whether it has closed the row, or read the row again
    old: str = ""  # the schedule that a PATCH replaces


@frozen(kw_only=True, cache_hash=True)
class World(Moving):
    """One moment."""

    budget: Budget
    row: Connection | None = None
    secrets: frozenset[str] = frozenset()  # in Secrets Manager
    notes: frozenset[SecretNote] = frozenset()
    made: int = 0  # secrets so far
    schedules: tuple[str, ...] = ()  # that ever named it
    ended: frozenset[str] = frozenset()
    forced: bool = False  # a DELETE by force has been answered
    runs: frozenset[Run] = frozenset()
    broken: str = ""

    @property
    def live(self) -> set[str]:
        """Schedules that may still reach a target."""
        return set(self.schedules) - self.ended


def row_of(secret: str) -> Connection:
    """The row of a PUT."""
    return Connection(owner=OWNER, name=NAME, type=ConnectionType.BEARER, secret=secret, header="Authorization")


def note_of(secret: str) -> SecretNote:
    """Before the secret is made."""
    return SecretNote(owner=OWNER, secret=secret, since=0)
