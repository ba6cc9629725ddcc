"""How many steps a pattern takes on a text, counted: it is matched as Python's own engine does it.

That engine tries one possibility after the other, and goes back when one fails. Here the same is done in Python, from
the same parsed pattern, and each character that is looked at is counted. A count is the same on every machine and at
every time, which a measurement is not.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from sys import getrecursionlimit, setrecursionlimit
from typing import Any, Final

_parser: Final[Any] = import_module("re._parser")
_DEEP: Final = 400_000  # calls within each other: one turn of a repeat is a few
_ONE_CHARACTER: Final = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_CATEGORIES: Final = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}

Next = Callable[[int], int | None]  # where the whole ends if it goes on here; None: it does not match
Match = Callable[[int, Next], int | None]


class TooMany(Exception):
    """It has taken more steps than it may."""


class Steps:
    """A pattern that is matched against one text, and what that takes."""

    def __init__(self, pattern: "re.Pattern[Any]", text: str, at_most: int = 10**9) -> None:
        self.text = text
        self.taken = 0
        self.at_most = at_most
        self._groups: dict[int, tuple[int, int]] = {}
        tree = _parser.parse(_text_of(pattern), pattern.flags & ~re.UNICODE | _flags_of(pattern))
        self._match = self._sequence(tree, pattern.flags)

    def match(self, at: int = 0) -> int | None:
        """Where a match ends that begins here. Raises TooMany."""
        self._groups = {}
        with _deep():
            return self._match(at, lambda end: end)

    def fullmatch(self) -> bool:
        """Raises TooMany."""
        with _deep():
            return self._match(0, lambda end: end if end == len(self.text) else None) is not None

    def all_of_them(self) -> list[tuple[int, int]]:
        """As `finditer` and `sub` find them, one after the other. Raises TooMany."""
        found: list[tuple[int, int]] = []
        at = 0
        while at <= len(self.text):
            end = self.match(at)
            self._step()
            if end is not None:
                found.append((at, end))
            at = max(end, at + 1) if end is not None else at + 1
        return found

    def _step(self) -> None:
        self.taken += 1
        if self.taken > self.at_most:
            raise TooMany

    # ------------------------------------------------------------ the parts of a pattern

    def _sequence(self, nodes: Any, flags: int) -> Match:
        parts = [self._part(str(node[0]), node[1], flags) for node in nodes]

        def run(at: int, then: Next, number: int = 0) -> int | None:
            if number == len(parts):
                return then(at)
            return parts[number](at, lambda end: run(end, then, number + 1))

        return run if len(parts) != 1 else parts[0]

    def _part(self, operation: str, argument: Any, flags: int) -> Match:
        if operation in _ONE_CHARACTER:
            return self._character(_fits(operation, argument, flags))
        if operation in _REPEATS:
            return self._repeat(operation, argument, flags)
        made: dict[str, Callable[[], Match]] = {
            "AT": lambda: self._place(str(argument), flags),
            "SUBPATTERN": lambda: self._group(argument[0], self._sequence(argument[3], _flags(flags, argument))),
            "ATOMIC_GROUP": lambda: self._atomic(self._sequence(argument, flags)),
            "BRANCH": lambda: self._branch([self._sequence(one, flags) for one in argument[1]]),
            "ASSERT": lambda: self._around(argument, flags, is_there=True),
            "ASSERT_NOT": lambda: self._around(argument, flags, is_there=False),
            "GROUPREF": lambda: self._again(argument),
            "GROUPREF_IGNORE": lambda: self._again(argument),
            "FAILURE": lambda: lambda _at, _then: None,
        }
        return made[operation]()

    def _character(self, fits: Callable[[str], bool]) -> Match:
        def run(at: int, then: Next) -> int | None:
            self._step()
            return then(at + 1) if at < len(self.text) and fits(self.text[at]) else None

        return run

    def _repeat(self, operation: str, argument: Any, flags: int) -> Match:
        least, most, nodes = int(argument[0]), int(argument[1]), list(argument[2])
        if len(nodes) == 1 and str(nodes[0][0]) in _ONE_CHARACTER:
            return self._row(operation, least, most, _fits(str(nodes[0][0]), nodes[0][1], flags))
        body = self._sequence(nodes, flags)
        if operation == "POSSESSIVE_REPEAT":
            return self._atomic(self._turns(body, least, most, is_lazy=False))
        return self._turns(body, least, most, is_lazy=operation == "MIN_REPEAT")

    def _turns(self, body: Match, least: int, most: int, *, is_lazy: bool) -> Match:
        def run(at: int, then: Next, turn: int = 0) -> int | None:
            self._step()

            def again() -> int | None:
                if turn >= most:
                    return None
                return body(at, lambda end: run(end, then, turn + 1) if end > at or turn < least else None)

            if turn < least:
                return again()
            if is_lazy:
                return found if (found := then(at)) is not None else again()
            return found if (found := again()) is not None else then(at)

        return run

    def _row(self, operation: str, least: int, most: int, fits: Callable[[str], bool]) -> Match:
        """Of single characters, as most repeats are."""

        def longest_first(at: int, then: Next) -> int | None:
            number = self._count(at, most, fits)
            for one in range(number, least - 1, -1):
                self._step()
                if (end := then(at + one)) is not None or operation == "POSSESSIVE_REPEAT":
                    return end
            return None

        def shortest_first(at: int, then: Next) -> int | None:
            number = self._count(at, least, fits)
            while number >= least:
                self._step()
                if (end := then(at + number)) is not None:
                    return end
                if number >= most or not self._count(at + number, 1, fits):
                    return None
                number += 1
            return None

        return shortest_first if operation == "MIN_REPEAT" else longest_first

    def _count(self, at: int, most: int, fits: Callable[[str], bool]) -> int:
        found = 0
        while found < most and at + found < len(self.text) and fits(self.text[at + found]):
            self._step()
            found += 1
        return found

    def _place(self, place: str, flags: int) -> Match:
        def run(at: int, then: Next) -> int | None:
            self._step()
            return then(at) if self._is_at(place, at, flags) else None

        return run

    def _is_at(self, place: str, at: int, flags: int) -> bool:
        before, after = self.text[at - 1 : at] if at else "", self.text[at : at + 1]
        match place:
            case "AT_BEGINNING":
                return at == 0 or bool(flags & re.MULTILINE and before == "\n")
            case "AT_BEGINNING_STRING":
                return at == 0
            case "AT_END":
                at_last = at >= len(self.text) - 1 and after in ("", "\n")
                return at_last or bool(flags & re.MULTILINE and after == "\n")
            case "AT_END_STRING":
                return at == len(self.text)
        is_border = _is_word(before, flags) != _is_word(after, flags)
        return is_border == (place == "AT_BOUNDARY")

    def _group(self, number: int | None, inner: Match) -> Match:
        if number is None:
            return inner

        def run(at: int, then: Next) -> int | None:
            def closed(end: int) -> int | None:
                before = self._groups.get(number)
                self._groups[number] = (at, end)
                found = then(end)
                if found is None and before is not None:
                    self._groups[number] = before
                return found

            return inner(at, closed)

        return run

    def _atomic(self, inner: Match) -> Match:
        def run(at: int, then: Next) -> int | None:
            end = inner(at, lambda end: end)
            return then(end) if end is not None else None

        return run

    def _branch(self, branches: Sequence[Match]) -> Match:
        def run(at: int, then: Next) -> int | None:
            for branch in branches:
                self._step()
                if (end := branch(at, then)) is not None:
                    return end
            return None

        return run

    def _around(self, argument: Any, flags: int, *, is_there: bool) -> Match:
        direction, nodes = argument
        inner = self._sequence(nodes, flags)
        width = 0 if direction > 0 else nodes.getwidth()[0]  # what is looked for before has one width

        def run(at: int, then: Next) -> int | None:
            self._step()
            found = at >= width and inner(at - width, lambda end: end) is not None
            return then(at) if found == is_there else None

        return run

    def _again(self, number: int) -> Match:
        def run(at: int, then: Next) -> int | None:
            self._step()
            if number not in self._groups:
                return None
            start, end = self._groups[number]
            wanted = self.text[start:end]
            self.taken += len(wanted)
            return then(at + len(wanted)) if self.text.startswith(wanted, at) else None

        return run


def _flags(flags: int, group: Any) -> int:
    """Within a group, which may set some and take some away."""
    return flags & ~int(group[2]) | int(group[1])


def _text_of(pattern: "re.Pattern[Any]") -> Any:
    return pattern.pattern


def _flags_of(pattern: "re.Pattern[Any]") -> int:
    return int(pattern.flags & re.UNICODE) if isinstance(pattern.pattern, str) else 0


def _is_word(character: str, flags: int) -> bool:
    return bool(character and re.match(r"\w", character, flags & re.ASCII))


@cache
def _category(name: str, flags: int) -> "re.Pattern[str]":
    written = _CATEGORIES[name.removeprefix("CATEGORY_").removeprefix("NOT_")]
    return re.compile(written.upper() if "NOT_" in name else written, flags & re.ASCII)


def _fits(operation: str, argument: Any, flags: int) -> Callable[[str], bool]:
    """Whether one character is allowed here."""

    @cache
    def fits(character: str) -> bool:
        same = {character}
        if flags & re.IGNORECASE:
            same |= {character.lower(), character.upper()}
        return any(_is_one(operation, argument, one, flags) for one in same if len(one) == 1)

    return fits


def _is_one(operation: str, argument: Any, character: str, flags: int) -> bool:
    code = ord(character)
    match operation:
        case "LITERAL":
            return code == int(argument)
        case "NOT_LITERAL":
            return code != int(argument)
        case "ANY":
            return bool(flags & re.DOTALL) or character != "\n"
    members = [(str(kind), value) for kind, value in argument]
    negated = members[0][0] == "NEGATE"
    return negated != any(_is_member(kind, value, character, flags) for kind, value in members)


def _is_member(kind: str, value: Any, character: str, flags: int) -> bool:
    match kind:
        case "LITERAL":
            return ord(character) == int(value)
        case "RANGE":
            return int(value[0]) <= ord(character) <= int(value[1])
        case "NEGATE":
            return False
    return bool(_category(str(value), flags).match(character))


@contextmanager
def _deep() -> Iterator[None]:
    before = getrecursionlimit()
    setrecursionlimit(_DEEP)
    try:
        yield
    finally:
        setrecursionlimit(before)
