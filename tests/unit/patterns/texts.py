"""Bad texts for a pattern, made of what it is looking for: a part of what it matches, again and again.

A pattern takes long where it can begin at many places, and goes far from each, or can match one text in many ways.
Both need a text in which something that the pattern matches is repeated, and which does not match in the end.
"""

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from random import Random
from typing import Any, Final

_parser: Final[Any] = import_module("re._parser")
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_ALPHABET: Final = "a0=:\"'<>&\\-. \n/{[(,_é"  # of a class, what also stands elsewhere in the pattern or in here
_OF_CATEGORY: Final = {"DIGIT": "0", "SPACE": " \n", "WORD": "a0_"}
_ENDS: Final = ("", "\x00", "\n", "!", ">", '"')


def bad_texts(pattern: "re.Pattern[Any]", length: int, number: int) -> Iterator[str]:
    """So many texts of about that length, always the same ones."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree, random = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE), Random(written)
    letters = sorted({*_literals(tree)}) or ["a"]
    for turn in range(number):
        sample = _sample(tree, random, letters) or random.choice(letters)
        start = random.randrange(len(sample)) if turn % 2 else 0
        piece = sample[start : start + random.randint(1, min(len(sample), 24))]
        before = sample[:start] if random.random() < 0.5 else ""
        repeated = piece * (max(length - len(before), 0) // len(piece))
        yield before + repeated + random.choice(_ENDS)


def _sample(nodes: Any, random: Random, letters: list[str]) -> str:
    """Something that the pattern may match, or nearly."""
    return "".join(_one(str(node[0]), node[1], random, letters) for node in nodes)


def _one(operation: str, argument: Any, random: Random, letters: list[str]) -> str:
    if operation in _REPEATS:
        least, most, inner = argument
        turns = min(int(least) + random.randint(0, 2), int(most))
        return "".join(_sample(inner, random, letters) for _ in range(turns))
    match operation:
        case "LITERAL":
            return chr(argument)
        case "NOT_LITERAL" | "ANY":
            return random.choice(letters)
        case "IN":
            return _member(argument, random, letters)
        case "BRANCH":
            return _sample(random.choice(argument[1]), random, letters)
    return _sample(_INSIDE[operation](argument), random, letters) if operation in _INSIDE else ""


_INSIDE: Final[dict[str, Callable[[Any], Any]]] = {  # what stands in a part
    "SUBPATTERN": lambda argument: argument[3],
    "ATOMIC_GROUP": lambda argument: argument,
    "ASSERT": lambda argument: argument[1],
}


def _member(argument: Any, random: Random, letters: list[str]) -> str:
    members: set[str] = {one for kind, value in argument for one in _of(str(kind), value)}
    is_negated = str(argument[0][0]) == "NEGATE"
    fitting: list[str] = [one for one in [*letters, *_ALPHABET] if (one in members) != is_negated]
    return random.choice(fitting or sorted(members))


def _of(kind: str, value: Any) -> Iterator[str]:
    if kind == "LITERAL":
        yield chr(value)
    elif kind == "RANGE":
        yield from map(chr, range(value[0], min(value[1], value[0] + 64) + 1))
    elif kind == "CATEGORY":
        yield from _OF_CATEGORY.get(str(value).removeprefix("CATEGORY_"), "!")


def _literals(nodes: Any) -> Iterator[str]:
    """The characters that are written in the pattern."""
    for node in nodes:
        operation, argument = str(node[0]), node[1]
        if operation == "LITERAL":
            yield chr(argument)
        elif operation in _REPEATS:
            yield from _literals(argument[2])
        elif operation == "SUBPATTERN":
            yield from _literals(argument[3])
        elif operation == "ATOMIC_GROUP":
            yield from _literals(argument)
        elif operation == "BRANCH":
            for one in argument[1]:
                yield from _literals(one)
