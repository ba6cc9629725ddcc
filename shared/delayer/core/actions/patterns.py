"""How long a regular expression can take, at most, whatever text it is given.

Python's engine tries one possibility after the other, and there can be more of them than a computer tries in a year:
`^(a|aa)*$` on forty times `a` and a `b`. This counts the possibilities from the parsed pattern, never too few. What
follows a repeat decides: if it cannot begin with what the repeat matches, there is one way to match the repeat. A
pattern that could take more ways within a repeat is refused, since they multiply with each turn.
"""

import re
from collections.abc import Iterable, Sequence
from functools import reduce
from importlib import import_module
from itertools import combinations
from typing import Any, Final

from attrs import evolve, frozen

_parser: Final[Any] = import_module("re._parser")  # the parser of Python's own patterns
_ASCII: Final = frozenset(range(128))
_OTHER: Final = 128  # stands for all characters beyond ASCII: two sets that have some of them may have the same
_END: Final = frozenset({-1})  # no character: the text must end here
_EVERY: Final = _ASCII | {_OTHER}
_IN_CATEGORY: Final = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_MANY: Final = 10**9  # ways or steps: more are not counted
LONGEST: Final = 1_024  # characters of a pattern

Set = frozenset[int]


class Unpredictable(ValueError):
    """It is refused; the text continues "the pattern …"."""


@frozen(kw_only=True)
class _Part:
    """What is known of a part of a pattern."""

    first: Set  # the characters that it can begin with
    is_empty: bool  # whether what follows can come at once
    takes: bool  # whether it takes a character at least
    ways: int = 1  # to match at one place, those that fail at the next character not counted
    fixed: int = 1  # steps of one try, however long the text is
    passes: int = 0  # how often one try goes through the text


_NOTHING: Final = _Part(first=frozenset(), is_empty=True, takes=False)


def most_steps(pattern: str, longest: int) -> int:
    """For a text of up to `longest` characters that does not end with a line feed. Raises Unpredictable."""
    if len(pattern) > LONGEST:
        raise Unpredictable(f"has more than {LONGEST:,} characters")
    try:
        tree = _parser.parse(pattern)
        re.compile(pattern)
        if tree.state.flags != re.UNICODE.value:
            raise Unpredictable("sets flags")
        if not tree or [str(one) for one in tree[0]] != ["AT", "AT_BEGINNING"]:
            raise Unpredictable("must begin with ^: otherwise it is tried at each character")
        part = _sequence(tree, frozenset(), longest)
    except (re.error, RecursionError, OverflowError) as error:
        raise Unpredictable("is none") from error
    return min(part.fixed + part.passes * (longest + 1), _MANY)


def _sequence(nodes: Iterable[Any], follow: Set, longest: int) -> _Part:
    """One part after the other. `follow` is what can come after them all."""
    parts: list[_Part] = []
    after = _NOTHING
    for node in reversed(list(nodes)):
        part = _part(node, after.first | follow if after.is_empty else after.first, longest)
        parts.append(part)
        first = part.first | after.first if part.is_empty else part.first
        after = _Part(first=first, is_empty=part.is_empty and after.is_empty, takes=part.takes or after.takes)
    ways, fixed, passes = 1, 1, 0
    for part in reversed(parts):  # each is tried once for each way in which those before it match
        fixed, passes = fixed + ways * part.fixed, passes + ways * part.passes
        ways = min(ways * part.ways, _MANY)
    return evolve(after, ways=ways, fixed=fixed, passes=passes)


def _part(node: Any, follow: Set, longest: int) -> _Part:
    operation, argument = str(node[0]), node[1]
    if operation in _REPEATS:
        return _repeat(*argument, follow=follow, longest=longest)
    match operation:
        case "LITERAL" | "NOT_LITERAL" | "IN" | "ANY":
            return _Part(first=_characters(operation, argument), is_empty=False, takes=True)
        case "AT":
            is_end = str(argument) in ("AT_END", "AT_END_STRING")
            return evolve(_NOTHING, first=_END, is_empty=False) if is_end else _NOTHING
        case "SUBPATTERN":
            if argument[1] or argument[2]:
                raise Unpredictable("sets flags")
            return _sequence(argument[3], follow, longest)
        case "ATOMIC_GROUP":
            return _sequence(argument, follow, longest)
        case "BRANCH":
            return _branch([_sequence(one, follow, longest) for one in argument[1]], follow)
    raise Unpredictable("looks around, or refers to a group")


def _branch(parts: Sequence[_Part], follow: Set) -> _Part:
    """The alternatives are tried one after the other; those that cannot begin here fail at once."""
    firsts = [one.first | follow if one.is_empty else one.first for one in parts]
    is_clear = all(not one & other for one, other in combinations(firsts, 2))
    return _Part(
        first=reduce(frozenset.union, (one.first for one in parts)),
        is_empty=any(one.is_empty for one in parts),
        takes=all(one.takes for one in parts),
        ways=max(one.ways for one in parts) if is_clear else min(sum(one.ways for one in parts), _MANY),
        fixed=1 + sum(one.fixed for one in parts),
        passes=sum(one.passes for one in parts),
    )


def _repeat(least: int, most: int, nodes: Iterable[Any], *, follow: Set, longest: int) -> _Part:
    """From `least` to `most` times. Each turn but an empty one takes a character of the text."""
    items = list(nodes)
    least, most = min(int(least), _MANY), min(int(most), _MANY)
    body = _sequence(items, follow, longest)
    if most > 1:
        body = _sequence(items, follow | body.first, longest)
        if not body.takes:
            raise Unpredictable("repeats what may be empty")
        if body.ways > 1:
            raise Unpredictable("repeats what can match in more than one way")
    is_clear = least == most or not body.first & follow
    turns = min(most, longest + 1)
    stops = 1 if is_clear else max(turns - min(least, turns) + 1, 1)  # the numbers of turns that may be the right one
    return _Part(
        first=body.first,
        is_empty=least == 0 or body.is_empty,
        takes=least > 0 and body.takes,
        ways=min(body.ways * stops if most > 1 else body.ways + stops - 1, _MANY),
        fixed=1 + body.fixed if most <= 1 else 1 + 2 * body.fixed,
        passes=body.passes if most <= 1 else 2 * (body.fixed + body.passes),
    )


def _characters(operation: str, argument: Any) -> Set:
    match operation:
        case "LITERAL":
            return _only(argument)
        case "NOT_LITERAL":
            return _EVERY - (_only(argument) & _ASCII)
        case "ANY":
            return _EVERY - {ord("\n")}
    members = [(str(kind), value) for kind, value in argument]
    found = reduce(frozenset.union, (_member(kind, value) for kind, value in members), frozenset[int]())
    return _EVERY - (found & _ASCII) if members[0][0] == "NEGATE" else found


def _member(kind: str, value: Any) -> Set:
    match kind:
        case "LITERAL":
            return _only(value)
        case "RANGE":
            low, high = value
            beyond = frozenset({_OTHER}) if high >= _OTHER else frozenset[int]()
            return beyond | frozenset(range(low, min(high, _OTHER - 1) + 1))
        case "NEGATE":
            return frozenset()
    name = str(value).removeprefix("CATEGORY_")
    known = _IN_CATEGORY.get(name.removeprefix("NOT_"))
    if known is None:
        return _EVERY
    inside = frozenset(code for code in _ASCII if re.fullmatch(known, chr(code)))
    return (_ASCII - inside if name.startswith("NOT_") else inside) | {_OTHER}


def _only(code: int) -> Set:
    return frozenset({min(code, _OTHER)})
