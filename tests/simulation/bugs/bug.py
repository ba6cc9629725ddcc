"""A deliberate bug: a defect of a scheduler before this one, or a guard of this one taken out."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import isfunction, isgenerator
from typing import Any
from unittest.mock import patch

from attrs import field, frozen

from delayer.execute import rules as executing
from delayer.flow import room
from delayer.flow.use_cases import turns
from tests.simulation.oracle.invariant import Invariant

Swap = tuple[Any, str, Any]  # where, what, by what


class BrokenBug(BaseException):
    """A deliberate bug that merely raises: a defect of the harness, not a find. Not an Exception: nobody catches it."""


@frozen(kw_only=True)
class Bug:
    """One defect. It counts as found only if it breaks the invariant that it must break."""

    name: str
    what: str  # what it does, for the table
    breaks: Invariant
    whose: str = ""  # the published scheduler that has it
    swaps: tuple[Swap, ...] = field(repr=False)

    def switched_in(self) -> ExitStack:
        """As long as the context lasts, the code has this bug."""
        stack = ExitStack()
        for where, name, instead in self.swaps:
            stack.enter_context(patch.object(where, name, _checked(instead) if isfunction(instead) else instead))
        return stack


def _checked(instead: Callable[..., Any]) -> Callable[..., Any]:
    """The same; an error that is not an exception of the project's own ends the story.

    The code under test catches errors of every kind. A bug that merely raises could so break the very invariant that it
    names, and nobody would see that the defect which it stands for is not there.
    """

    @wraps(instead)
    def checked(*arguments: Any, **named: Any) -> Any:
        with _no_defect_of_its_own(instead.__name__):
            outcome = instead(*arguments, **named)
        return _led(outcome, instead.__name__) if isgenerator(outcome) else outcome

    return checked


def _led(steps: Generator[Any, Any, Any], name: str) -> Generator[Any, Any, Any]:
    with _no_defect_of_its_own(name):
        return (yield from steps)


@contextmanager
def _no_defect_of_its_own(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if type(error).__module__.startswith(("delayer.", "tests.")):
            raise
        raise BrokenBug(f"{name} raised {error!r}") from error


def _at_once(message: Any) -> int:
    return 0


def _no_wait(message: Any, now: Any) -> None:
    return None


# An executor attempts whatever comes, however early it is.
NEVER_HELD: tuple[Swap, ...] = (
    (executing, "decide_wait", _no_wait),
    (executing, "due_of", _at_once),
    (room, "due_of", _at_once),
    (turns, "due_of", _at_once),
)


def never(*_: Any) -> bool:
    """In place of a condition."""
    return False
