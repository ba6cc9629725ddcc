"""How long a pattern can take is known before it is used, and what is allowed is fast on every text."""

import random
import re
import time
from contextlib import suppress

import pytest

from delayer.actions.rules.foreign import LONGEST_MATCHED, MOST_STEPS, Unpredictable, most_steps

ALLOWED = MOST_STEPS * LONGEST_MATCHED  # steps
GENEROUS = 0.25  # seconds; what is allowed takes five milliseconds, what is not takes years

CATASTROPHIC = [
    "^(a+)+$",
    "^(a*)*$",
    "^(a|aa)+$",
    "^(a|a)*b",
    "^(a|ab|b)*c",
    "^([a-z]+)*!",
    "^(.*)*$",
    "^(a?){30}a{30}$",
    "^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaaaaaaaaaaaaaa$",
    "^a{0,200}a{0,200}a{0,200}a{0,200}b",
    "^a*a*a*a*b",
    r"^(\w+\s?)*$",
    r"^(\d|[0-9a-f]x?)*$",
    "^(x+x+)+y",
    "^(a*?b?)*c",
    "^(?:a{1,60}){1,60}b",
    "^((ab)*)*c",
    "^(é|[à-ÿ]b?)*!",
    "^(){1000000000}",
    "^($){1000000000}",
    r"^(\b){1000000000}a",
    "^(a|b|ab)*?c",
    r"^.*.*.*=.*",
]
ORDINARY = [
    "^#[a-z0-9_-]{1,80}$",
    "^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
    r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$",
    "^https://[!-~]*$",
    "^([0-9]{1,3}[.]){3}[0-9]{1,3}$",
    "^(GET|PUT|POST)$",
    "^[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}$",
    "^[^@ ]+@[^@ ]+$",
    "^[a-z]+(,[a-z]+)*$",
    "^$",
    "^a",
    "^.*$",
    "^\\+?[1-9][0-9]{6,14}$",
]


@pytest.mark.parametrize("pattern", CATASTROPHIC)
def test_a_catastrophic_pattern_is_refused(pattern: str) -> None:
    with suppress(Unpredictable):
        assert most_steps(pattern, LONGEST_MATCHED) > ALLOWED


@pytest.mark.parametrize("pattern", ORDINARY)
def test_an_ordinary_pattern_is_allowed(pattern: str) -> None:
    assert most_steps(pattern, LONGEST_MATCHED) <= ALLOWED


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "a",
            "(",
            "^a|b",
            "(?i)^a",
            "^(?i:a)",
            r"^(a)\1",
            "^(?=a)",
            "^(?<!a)b",
            "^(?!x)",
            "^a{2,1}",
            "^(a)(?(1)b|c)",
            "",
        ),
        "^" + "a" * 1_024,
    ],
)
def test_what_cannot_be_foreseen_is_refused(pattern: str) -> None:
    with pytest.raises(Unpredictable):
        most_steps(pattern, 10)


def test_a_pattern_of_many_brackets_is_refused_or_fast() -> None:
    """It depends on how much of the stack is left; nothing else is raised."""
    with suppress(Unpredictable):
        assert most_steps("^" + "(" * 500 + ")" * 500, LONGEST_MATCHED) <= ALLOWED


def test_a_short_text_may_have_a_slower_pattern() -> None:
    """The time grows with the square of the text."""
    assert most_steps("^[a-z]*[a-y]*!", 20) <= MOST_STEPS * 20 < most_steps("^[a-z]*[a-y]*!", 2_048)


def test_whatever_is_allowed_is_fast() -> None:
    """Patterns made at random of parts that overlap, on texts that nearly match.

    It takes a second or two: patterns at random meet texts at random.
    """
    chance = random.Random(11)
    allowed = 0
    for _ in range(2_000):
        pattern = f"^{made(chance, 3)}{chance.choice(['$', 'z', '!$', ''])}"
        try:
            steps = most_steps(pattern, LONGEST_MATCHED)
        except Unpredictable:
            continue
        if steps > ALLOWED:
            continue
        allowed += 1
        compiled = re.compile(pattern)
        for text in hostile(chance):
            began = time.process_time()
            compiled.search(text)
            assert time.process_time() - began < GENEROUS, (pattern, text[:40])
    assert allowed > 200


def made(chance: random.Random, depth: int) -> str:
    """A pattern of a few parts."""
    return "".join(part(chance, depth) for _ in range(chance.randint(1, 4)))


def part(chance: random.Random, depth: int) -> str:
    atoms = ["a", "b", "[ab]", "[^a]", ".", r"\w", "é", ","]
    if depth == 0:
        return chance.choice(atoms)
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice(atoms)
    if kind == 1:
        return f"({made(chance, depth - 1)}|{made(chance, depth - 1)})"
    inner = chance.choice(atoms) if kind == 2 else f"({made(chance, depth - 1)})"
    return inner + chance.choice(["*", "+", "?", "*?", "{2}", "{0,9}", "{3,}", "{0,300}"])


def hostile(chance: random.Random) -> list[str]:
    seeds = ["a", "b", "ab", "ba", "aab", "a,b", "é", "aé", ",a"]
    mixed = "".join(chance.choice("aab,é") for _ in range(LONGEST_MATCHED - 1))
    return [*((seed * LONGEST_MATCHED)[: LONGEST_MATCHED - 1] + "!" for seed in seeds), mixed + "\x00"]
