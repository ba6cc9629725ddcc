"""Faults at any call of a port: an error before its effect, an error after it, a crash of the function."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from attrs import Factory, define, evolve, fields, has

from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Delete, Item, Key, Page, Put, Query, Write
from delayer.engines.store.store import Answer, Store, WriteRefused

Outcome = TypeVar("Outcome")


class Fault(StrEnum):
    """A fault."""

    BEFORE = "error before the effect"
    AFTER = "error after the effect"
    CRASH_BEFORE = "crash before the effect"
    CRASH_AFTER = "crash after the effect"


class Crash(BaseException):
    """The function dies. Not an Exception: no code of ours may catch it."""


@define
class FaultPlan:
    """Lets the call number `at` of all calls fail. `seen` names the calls, in order."""

    fault: Fault | None = None
    at: int = -1
    seen: list[str] = Factory(list)

    def around(self, name: str, call: Callable[[], Any], fail: Callable[[], Any]) -> Any:
        """Makes the call, or lets it fail. `fail` is what a port answers that reports instead of raising."""
        number = len(self.seen)
        self.seen.append(name)
        if number != self.at or self.fault is None:
            return call()
        if self.fault in (Fault.AFTER, Fault.CRASH_AFTER):
            call()
        if self.fault in (Fault.CRASH_BEFORE, Fault.CRASH_AFTER):
            raise Crash(name)
        return fail()


def faulty(port: Any, plan: FaultPlan) -> Any:
    """Any port, with every call under a plan. One that stands on the store has its requests under it, one by one."""
    if _is_repository(port):
        return evolve(port, store=FaultyStore(port.store, plan, type(port).__name__))
    return Faulty(port, plan)


def _is_repository(port: Any) -> bool:
    names = {one.name for one in fields(type(port))} if has(type(port)) else set()
    return "store" in names and any(name.endswith("table") for name in names)


class Faulty:
    """A port with every call under a plan. Of a repository the requests fail, not its methods: `faulty`."""

    def __init__(self, port: Any, plan: FaultPlan) -> None:
        if _is_repository(port):
            raise TypeError(f"{type(port).__name__} stands on a store: put `faulty` around it")
        self._port = port
        self._plan = plan

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if not callable(method):
            return method
        label = f"{type(self._port).__name__}.{name}"

        def call(*arguments: Any, **named: Any) -> Any:
            return self._plan.around(label, lambda: method(*arguments, **named), lambda: failed(name, arguments))

        return call


@define
class FaultyStore:
    """A store with every request under a plan, by the name of the repository that makes it."""

    store: Store
    plan: FaultPlan
    repository: str

    def get(self, table: str, key: Key, *, latest: bool = True) -> Item | None:
        return self._asked("get", lambda: self.store.get(table, key, latest=latest))

    def get_many(self, table: str, keys: Sequence[Key], *, latest: bool = True) -> list[Item]:
        return self._asked("get_many", lambda: self.store.get_many(table, keys, latest=latest))

    def query(self, query: Query) -> Page:
        return self._asked("query", lambda: self.store.query(query))

    def count(self, query: Query, at_most: int) -> int:
        return self._asked("count", lambda: self.store.count(query, at_most))

    def write(self, write: Write) -> Item:
        return self._asked("write", lambda: self.store.write(write))

    def transact(self, writes: Sequence[Write]) -> None:
        return self._asked("transact", lambda: self.store.transact(writes))

    def write_each(self, puts: Sequence[Put]) -> list[Answer]:
        """Each of them fares on its own."""
        return [answer for put in puts for answer in self._reported("write_each", [put])]

    def _reported(self, name: str, puts: Sequence[Put]) -> list[Answer]:
        def fail() -> list[Answer]:
            return [Unavailable(f"{name}: injected") for _ in puts]

        return self._around(name, lambda: self.store.write_each(puts), fail)

    def write_all(self, writes: Sequence[Put | Delete]) -> list[Put | Delete]:
        return self._around("write_all", lambda: self.store.write_all(writes), lambda: list(writes))

    def _asked(self, name: str, do: Callable[[], Outcome]) -> Outcome:
        def fail() -> Outcome:
            raise Unavailable(f"{name}: injected")

        return self._around(name, do, fail)

    def _around(self, name: str, do: Callable[[], Outcome], fail: Callable[[], Outcome]) -> Outcome:
        """A call that is refused has no effect: then an error after it is the refusal that nobody hears of."""
        outcome: Outcome = self.plan.around(f"{self.repository}.{name}", partial(_unless_refused, do), fail)
        if isinstance(outcome, WriteRefused):
            raise outcome
        return outcome


def _unless_refused(do: Callable[[], Outcome]) -> Outcome | WriteRefused:
    try:
        return do()
    except WriteRefused as refused:
        return refused


def failed(name: str, arguments: tuple[Any, ...]) -> Any:
    """`send` and `delete` report what they did not do; nobody waits for `give_back`; all else raises."""
    if name == "give_back":
        return None
    if name == "send":
        return list(range(len(arguments[0])))
    if name == "delete":
        return list(arguments[0])
    raise Unavailable(f"{name}: injected")
