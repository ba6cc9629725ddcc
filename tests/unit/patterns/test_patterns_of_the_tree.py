"""No text makes a pattern of the tree slow: what it takes grows with the text, and not with its square.

The patterns are found in the code, so that a new one is here, too. Bad texts are made of each, and the steps are
counted that Python's own engine takes with them.
"""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.patterns.steps import Steps, TooMany
from tests.unit.patterns.texts import bad_texts
from tests.unit.patterns.uses import Found, patterns_of_the_tree

LENGTHS = (120, 360, 1_080)  # characters; the next one is looked at if the one before says nothing for sure
FEW = 3.0  # steps for each character
MOST = 100.0  # steps for each character, in any text: a list of thirty words takes sixty
GROWS = 1.8  # times as many for each character, in a text three times as long; the square of it takes three times
EVERY_DAY, THOROUGH = 20, 100  # texts for each pattern

# Those that are made while the program runs, and why that is safe.
MADE_LATER = {
    "shared/delayer/actions/rules/foreign.py: re.compile(pattern)": "it is compiled, and matches nothing",
    "shared/delayer/actions/rules/foreign.py: re.fullmatch(known, chr(code))": "one character",
    "shared/delayer/http/field_errors.py: re.search(pattern, text)": "the contract's are tested here; those of "
    "other actions are refused at their registration if they may take long: tests/unit/actions/rules/test_patterns.py",
    "shared/delayer/http/field_errors.py: re.compile(schema['pattern'])": "the same ones",
    "client/delayer_client/eventbridge/mapping/arns.py: re.search(PATTERNS[field], value)": "the contract's",
    "shared/delayer/http/routing.py: re.compile(PARAMETER.sub('(?P<\\\\1>[^/]+)', path))": "between slashes",
    "local/scaffold/name_list.py: re.search(pattern, template, re.MULTILINE)": "its own template",
    "local/scaffold/remove.py: re.search(pattern, line)": "its own code",
    "local/scaffold/table.py: re.compile(f'^  {kind.table}:\\\\n(?:    .*\\\\n)+', re.MULTILINE)": "its own",
    "local/scaffold/table.py: re.search(f'^    {name}:(?: .*)?\\\\n(?:     .*\\\\n)*', table[0], re.MULTILINE)": "own",
}

FOUND = {found.where: found for found in patterns_of_the_tree()}
KNOWN = sorted(name for name, found in FOUND.items() if found.pattern)


def steps(found: Found, text: str, at_most: int) -> int:
    made = Steps(found.pattern, text, at_most)  # type: ignore[arg-type]
    try:
        if found.method == "search":
            made.all_of_them()
        else:
            getattr(made, found.method)()
    except TooMany:
        pass
    return made.taken


def too_slow(found: Found, number: int) -> list[str]:
    """The texts with which it takes too many steps."""
    texts = (bad_texts(found.pattern, length, number) for length in LENGTHS)  # type: ignore[arg-type]
    return [short[:60] for short, *longer in zip(*texts, strict=True) if grows(found, [short, *longer])]


def grows(found: Found, texts: Sequence[str]) -> bool:
    """Whether it takes more than a few steps for each character, and more with each longer text."""
    before = FEW / GROWS
    for text in texts:
        now = steps(found, text, int(MOST * 2 * len(text))) / max(len(text), 1)
        if now > MOST:
            return True
        if now <= before * GROWS:
            return False
        before = now
    return True


@pytest.mark.parametrize("where", KNOWN)
def test_no_text_makes_a_pattern_slow(where: str) -> None:
    """A second or two for the longest patterns: what is counted in Python takes a hundred times as long."""
    assert not too_slow(FOUND[where], EVERY_DAY)


@pytest.mark.thorough
@pytest.mark.parametrize("where", KNOWN)
def test_no_text_of_many_makes_a_pattern_slow(where: str) -> None:
    """It takes up to ten seconds for each: what is counted in Python takes a hundred times as long."""
    assert not too_slow(FOUND[where], THOROUGH)


def test_each_pattern_is_looked_at_or_it_is_said_why_not() -> None:
    assert {name for name, found in FOUND.items() if not found.pattern} == set(MADE_LATER)
    assert len(KNOWN) > 100


SLOW: dict[str, tuple[str, str]] = {  # each was in the tree, and took minutes with some text
    "a name, and the rest of its line": (
        r"""(?P<head>\bname\s{0,8}=\s{0,8}["']?(?P<name>[^"'\r\n;]{1,100})[^\r\n]*+\r?\n(?:[^\r\n]++\r?\n){0,9}+\r?\n)""",
        "search",
    ),
    "texts that do not end": (r'"(?:[^"\\]|\\.)*"', "search"),
    "blanks between what may be missing": (r"(?:\d+\s*h)?\s*(?:\d+\s*m)?\s*(?:\d+\s*s)?", "fullmatch"),
    "a value between slashes": (r"Credential=[^/]+/\d+/[^/]+/([^/]+)/", "search"),
    "names in names": (r"[A-Za-z_$][\w$.-]{0,63}(?:\[[\w$.-]{0,64}\]){0,8}\s*+[:=]", "search"),
    "two ways to match a text": ("(?:a|a)*b", "match"),
    "repeats of repeats": ("(?:a+)+b", "match"),
}


@pytest.mark.parametrize("name", SLOW)
def test_a_slow_pattern_is_found(name: str) -> None:
    pattern, method = SLOW[name]
    assert too_slow(Found(where=name, pattern=re.compile(pattern, re.IGNORECASE), method=method), EVERY_DAY)


def spans(found: Found, text: Any) -> list[tuple[int, int]]:
    assert found.pattern is not None
    return [one.span() for one in found.pattern.finditer(text) if one[0]]


@pytest.mark.parametrize("where", KNOWN)
def test_what_counts_the_steps_finds_what_the_engine_finds(where: str) -> None:
    """On short texts: the steps are those of a matcher that is right."""
    found = FOUND[where]
    assert found.pattern is not None
    for text in bad_texts(found.pattern, 16, 12):
        content: Any = text if isinstance(found.pattern.pattern, str) else text.encode("latin-1")
        counted = [span for span in Steps(found.pattern, text).all_of_them() if span[0] < span[1]]
        assert counted == spans(found, content), text
