"""Repositories for a test that needs one and no whole stack: each on a SQLite of its own, or on one that is given.

And repositories among others, who do something just before a request of theirs.
"""

from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar

from attrs import evolve, fields, frozen

from delayer.engines.process import InOrder
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.store import Store

Repository = TypeVar("Repository")
Comes = Callable[[], object]

WRITES: Final = ("write", "write_each", "write_all", "transact")  # of the operations of a store


def on_sqlite(repository: type[Repository], store: Store | None = None) -> Repository:
    """A repository; its tables are called as the fields that name them."""
    made: dict[str, Any] = {"store": store or SqliteStore()}
    for one in fields(repository):  # type: ignore[arg-type] # an attrs class
        if one.name.endswith("table"):
            made[one.name] = one.name
        elif one.name == "parallel":
            made[one.name] = InOrder()
    return repository(**made)


def preceded(repository: Repository, comes: Comes, operations: Collection[str] = WRITES) -> Repository:
    """The repository; `comes` is called before each of its requests of these kinds. What it raises, they raise."""
    made: Any = repository
    preceded_one: Repository = evolve(made, store=Preceded(made.store, comes, operations))
    return preceded_one


def in_turn(*deeds: Comes) -> Comes:
    """One of them each time, and then nothing any more."""
    left = iter(deeds)
    return lambda: next(left, _nothing)()


def _nothing() -> None: ...


@frozen
class Preceded:
    """A store, and what others do before its requests."""

    store: Store
    comes: Comes
    operations: Collection[str]

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self.store, name)
        if name not in self.operations:
            return operation

        def request(*arguments: Any, **named: Any) -> Any:
            self.comes()
            return operation(*arguments, **named)

        return request
