"""Where answers go: tables and colour for people, JSON Lines for scripts."""

import os
import sys
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import Any, Final

import msgspec
from attrs import define, field
from rich.console import Console, RenderableType
from rich.text import Text

from delayer_client.cli.showing.streams import NotWritten, abandon, check, write
from delayer_client.cli.showing.texts import clean, in_json

UNBOUND: Final = 10_000  # columns of what is not a terminal: nothing is cut


@define(slots=False)
class Output:
    """Answers on standard output, all else on standard error."""

    as_json: bool
    lost: NotWritten | None = field(default=None, init=False)  # since then answers go to standard error

    @cached_property
    def console(self) -> Console:
        """For people."""
        return _console(stderr=False)

    @cached_property
    def errors(self) -> Console:
        """For what is no answer."""
        return _console(stderr=True)

    def show(self, *what: RenderableType) -> None:
        """To people only. A text is shown as it is: brackets and colons in it are no markup."""
        if not self.as_json:
            for one in what:
                self.say(one)

    def objects(self, found: Iterable[Any]) -> None:
        """To scripts only: one object on each line, as long as they can be written."""
        for one in found:
            line = _line(plain(one))
            self._answer(partial(write, sys.stdout, line), partial(write, sys.stderr, line))
            if self.lost:
                return

    def one(self, found: Any, *what: RenderableType) -> None:
        """An answer: the object for scripts, what else is given for people."""
        if self.as_json:
            self.objects([found])
        else:
            self.show(*what)

    def say(self, what: RenderableType) -> None:
        """To people, whoever else reads."""
        self._answer(partial(_print, self.console, what), partial(_print, self.errors, what))

    def note(self, what: RenderableType) -> None:
        """Said beside the answer."""
        _aside(partial(_print, self.errors, what, "yellow"))

    def error(self, text: str) -> None:
        """Why there is no answer."""
        _aside(partial(_print, self.errors, text, "red"))

    def error_object(self, found: Any) -> None:
        """The same for scripts."""
        _aside(partial(write, sys.stderr, _line(found)))

    def _answer(self, do: Callable[[], None], instead: Callable[[], None]) -> None:
        """An id must not be lost with the answer: what standard output does not take goes to standard error.

        Raises BrokenPipeError: a reader that has gone, as `head` does, has all that it wanted.
        """
        if self.lost is None:
            try:
                check(sys.stdout)
                do()
                return
            except BrokenPipeError:
                raise
            except OSError as error:
                self.lost = NotWritten(error)
                abandon(sys.stdout)
        _aside(instead)


def _aside(do: Callable[[], None]) -> None:
    """A note that standard error does not take must not keep an answer from being given."""
    try:
        do()
    except OSError:
        abandon(sys.stderr)


def _line(found: Any) -> str:
    return in_json(msgspec.json.encode(found).decode()) + "\n"


def _print(console: Console, what: RenderableType, style: str = "") -> None:
    if isinstance(what, str):
        what = Text(what, style=style)
    if isinstance(what, Text):
        what = what.copy()
        what.plain = clean(what.plain)
        console.print(what, soft_wrap=not what.no_wrap)
    else:
        console.print(what)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNBOUND
    return console


def plain(found: Any) -> Any:
    """Turns a value into the types that JSON is made of."""
    return found.as_json() if hasattr(found, "as_json") else found
