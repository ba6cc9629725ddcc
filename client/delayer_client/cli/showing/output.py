"""Where answers go: tables and colour for people, JSON Lines for scripts."""

import os
import sys
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import msgspec
from attrs import define
from rich.console import Console, RenderableType
from rich.text import Text

from delayer_client.cli.showing.texts import clean

UNBOUND: Final = 10_000  # columns of what is not a terminal: nothing is cut


@define(slots=False)
class Output:
    """Answers on standard output, all else on standard error."""

    as_json: bool

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
                _print(self.console, one)

    def objects(self, found: Iterable[Any]) -> None:
        """To scripts only: one object on each line."""
        for one in found:
            sys.stdout.write(msgspec.json.encode(plain(one)).decode() + "\n")
        sys.stdout.flush()

    def one(self, found: Any, *what: RenderableType) -> None:
        """An answer: the object for scripts, what else is given for people."""
        if self.as_json:
            self.objects([found])
        else:
            self.show(*what)

    def say(self, text: str) -> None:
        """To people, as it is."""
        _print(self.console, text)

    def note(self, text: str) -> None:
        """Said beside the answer."""
        _print(self.errors, text, "yellow")

    def error(self, text: str) -> None:
        """Why there is no answer."""
        _print(self.errors, text, "red")

    def error_object(self, found: Any) -> None:
        """The same for scripts."""
        sys.stderr.write(msgspec.json.encode(found).decode() + "\n")


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
    """What JSON is made of."""
    return found.as_json() if hasattr(found, "as_json") else found
