"""The store as one repository of one function has it: each operation is a request, which takes a while and may fail."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from attrs import field, frozen

from delayer.engines.store.model import Delete, Item, Key, Page, Put, Query, Write
from delayer.engines.store.store import Answer, Store
from tests.simulation.engine.remote import Network, Service

Outcome = TypeVar("Outcome")


@frozen(kw_only=True, eq=False)
class RemoteStore:
    """Port Store, behind the network."""

    store: Store
    label: str  # of the repository
    network: Network
    _query: str = field(init=False)  # the name of most requests

    @_query.default
    def _name_of_a_query(self) -> str:
        return f"{self.label}.query"

    def get(self, table: str, key: Key, *, latest: bool = True) -> Item | None:
        return self._ask("get", partial(self.store.get, latest=latest), table, key)

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        return self._ask("get_many", partial(self.store.get_many, latest=latest), table, keys)

    def query(self, query: Query) -> Page:
        page: Page = self.network.call(self._query, Service.DYNAMODB, self.store.query, (query,))
        return page

    def count(self, query: Query, at_most: int) -> int:
        return self._ask("count", self.store.count, query, at_most)

    def write(self, write: Write) -> Item:
        return self._ask("write", self.store.write, write)

    def write_each(self, puts: Sequence[Put]) -> list[Answer]:
        return self._ask("write_each", self.store.write_each, puts) if puts else []

    def write_all(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        return self._ask("write_all", self.store.write_all, writes) if writes else []

    def transact(self, writes: Sequence[Write]) -> None:
        self._ask("transact", self.store.transact, writes)

    def _ask(self, operation: str, do: Callable[..., Outcome], *arguments: object) -> Outcome:
        outcome: Outcome = self.network.call(f"{self.label}.{operation}", Service.DYNAMODB, do, arguments)
        return outcome
