"""Faults at any call of a port: an error before its effect, an error after it, a crash of the function."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from attrs import Factory, define

from delayer.core.ledger.row import LedgerChange
from delayer.ports.ledger import WriteResult
from delayer.ports.unavailable import Unavailable


class Fault(StrEnum):
    """What goes wrong."""

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


class Faulty:
    """Any port, with every call under a plan."""

    def __init__(self, port: Any, plan: FaultPlan) -> None:
        self._port = port
        self._plan = plan

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if not callable(method):
            return method
        label = f"{type(self._port).__name__}.{name}"

        def call(*arguments: Any, **named: Any) -> Any:
            return self._plan.around(label, lambda: method(*arguments, **named), lambda: failed(name, arguments))

        def change_by_change(changes: Sequence[LedgerChange]) -> list[WriteResult]:
            return [result for change in changes for result in call([change])]

        return change_by_change if name == "write" and is_ledger(self._port) else call


def is_ledger(port: Any) -> bool:
    """Its `write` takes a list, of which each change is a request of its own and fares on its own."""
    return hasattr(port, "read_all")


def failed(name: str, arguments: tuple[Any, ...]) -> Any:
    """`send`, `delete` and `write` report what they did not do; nobody waits for `give_back`; all else raises."""
    if name == "give_back":
        return None
    if name == "send":
        return list(range(len(arguments[0])))
    if name == "delete":
        return list(arguments[0])
    if name == "write" and isinstance(arguments[0], Sequence):  # not a transaction, which is written whole or raises
        return [Unavailable("write: injected") for _ in arguments[0]]
    raise Unavailable(f"{name}: injected")
