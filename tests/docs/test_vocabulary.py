"""The retired words of the glossary stay out of names, states and file names; not out of English sentences.

A team's own function may have any name: to it, a delivery may be one of pizza.
"""

import io
import keyword
import os
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from delayer.ledger.model import EventType, State
from tests.cfn import ROOT, expanded, functions
from tests.openapi import openapi
from tests.running.of_each import of_each
from tests.template.added import is_added

PAGE = (ROOT / "docs/project/glossary.md").read_text()
CODE = ("shared", "functions", "examples", "local", "bench", "operate", "tests")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+")


@cache
def retired() -> tuple[str, ...]:
    """The first column of the table. A row may have several words."""
    section = PAGE.split("\n## Retired words\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (?!-)(.+?) \| (.+?) \|$", section, re.MULTILINE)
    assert rows[0] == ("old", "now")
    words = [word for old, _ in rows[1:] for word in re.findall(r"`([^`]+)`", old)]
    assert len(words) == len(set(words)) > 20
    return tuple(words)


@cache
def parts(name: str) -> str:
    """`SetAsideStore`, `set_aside_store` and `set-aside-store` have the same three: `-set-aside-store-`."""
    return f"-{'-'.join(PART.findall(name)).lower()}-"


def holds(name: str, word: str) -> bool:
    """Whether a name has the parts of the word side by side. A whole part counts, so `redelivery` is no `delivery`."""
    return parts(word) in parts(name)


def is_kept_out(name: str, word: str) -> bool:
    """`Wait` is kept out as the name of a class, `late.py` as that of a file, any other word as a part of any name."""
    is_whole = word.endswith(".py") or word[0].isupper()
    return name == word if is_whole else holds(name, word)


@cache
def old_words_of(name: str) -> tuple[str, ...]:
    """The same names are met again and again."""
    return tuple(word for word in retired() if is_kept_out(name, word))


def old_words_in(names: Iterable[tuple[str, str]]) -> list[str]:
    return sorted({f"{word} in {name} ({place})" for name, place in names for word in old_words_of(name)})


@cache
def added() -> frozenset[str]:
    """The functions of teams."""
    return frozenset(filter(is_added, functions()))


def is_of(path: Path, teams: Collection[str]) -> bool:
    """Whether a file, by its path in the project, belongs to one of these functions: its folder, its test."""
    tests = {f"test_{name.replace('-', '_')}.py" for name in teams}
    match path.parts:
        case ("functions", folder, *_):
            return folder in teams
        case ("tests", "functions", name):
            return name in tests
    return False


@cache
def files() -> tuple[Path, ...]:
    """All files of Delayer's own, by their paths in the project; not what is made by a tool."""
    return tuple(_files())


def _files() -> Iterator[Path]:
    for folder, folders, found in os.walk(ROOT):
        folders[:] = [one for one in folders if not one.startswith(".") and one not in ("__pycache__", "site")]
        paths = (Path(folder, one).relative_to(ROOT) for one in found)
        yield from (path for path in paths if not is_of(path, added()))


def identifiers(path: Path) -> set[str]:
    """The names in a Python file: no text, no comment. A file that has no old word at all need not be taken apart."""
    text = path.read_text()
    if not any(map(old_words_of, set(re.findall(r"\w+", text)))):
        return set()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {one.string for one in tokens if one.type == tokenize.NAME and not keyword.iskeyword(one.string)}


# In texts for readers one word stands for all of these: to wait.
OTHER_WORDS_FOR_WAITING = re.compile(
    r"\b(ke(pt|eps?|eping)\s+(\w+\s+){0,2}back|h(eld|olds?|olding)\s+(\w+\s+){0,2}up|put(s|ting)?\s+(it\s+)?off|postpon\w+|parked)\b",
    re.IGNORECASE,
)
READ = ("shared", "client", "functions", "docs", "operate", "local", "examples")
# The log message of earlier releases, in place of `waits`: a page may quote it, since older logs still have it.
OLD_MESSAGE = re.compile(r'"kept back"|`kept back`')
QUOTES_IT = Path("docs/use/flow.md")


@pytest.mark.parametrize(
    ("name", "word", "expected"),
    [
        ("SetAsideBucket", "set_aside", True),
        ("test_setting_aside", "set_aside", False),
        ("redelivery", "delivery", False),
        ("deliveries", "delivery", False),
        ("Delivery", "delivery", True),
        ("SQSDelivery", "delivery", True),
        ("wait_until", "Wait", False),
        ("HEARTBEAT_WAIT", "Wait", False),
        ("Wait", "Wait", True),
        ("WaitTimeSeconds", "Wait", False),
        ("late", "late.py", False),
        ("late.py", "late.py", True),
    ],
)
def test_how_a_word_is_matched(name: str, word: str, expected: bool) -> None:
    assert is_kept_out(name, word) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("functions/executor-pizza-delivery/app.py", True),
        ("functions/executor-pizza-delivery/oven/late.py", True),
        ("tests/functions/test_executor_pizza_delivery.py", True),
        ("functions/executor-http-request/app.py", False),
        ("tests/functions/test_executor_http_request.py", False),
        ("shared/delayer/executor-pizza-delivery/app.py", False),
        ("template.yaml", False),
    ],
)
def test_what_belongs_to_a_team(path: str, expected: bool) -> None:
    assert is_of(Path(path), {"executor-pizza-delivery"}) == expected


@of_each(CODE)
def test_names_in_the_code(folder: str) -> None:
    """All that are in the code, of which there are some 30,000: to look through them takes more than a second."""
    sources = [path for path in sorted(files()) if path.parts[0] == folder and path.suffix == ".py"]
    assert sources or folder == "bench"
    assert old_words_in((name, str(path)) for path in sources for name in identifiers(ROOT / path)) == []


def test_files_and_folders() -> None:
    assert old_words_in((part, str(path)) for path in files() for part in path.parts) == []


def test_states_and_events() -> None:
    assert old_words_in((str(one), type(one).__name__) for kind in (State, EventType) for one in kind) == []


def test_names_in_the_template() -> None:
    """Logical ids, parameters, outputs, environment variables, and metrics of ours."""
    template = expanded()
    names = {name for section in ("Parameters", "Resources", "Outputs", "Conditions") for name in template[section]}
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        names |= {properties["MetricName"]} if properties.get("Namespace") == "Delayer" else set()
        names |= set(properties.get("Environment", {}).get("Variables", {}))
    assert old_words_in((name, "template.yaml") for name in names) == []


def test_names_in_the_contract() -> None:
    """The keys of openapi.yaml, and the values of each `enum` and `const`; not the names of HTTP's own schemes."""
    assert old_words_in((name, "openapi.yaml") for name in _keys_and_values(openapi(), of_teams(added()))) == []


def of_teams(teams: Collection[str]) -> set[str]:
    """The keys under which the actions of teams stand: their types, and the names of their schemas."""
    kinds = [name.removeprefix("executor-") for name in teams]
    return {*kinds, *("".join(word.capitalize() for word in kind.split("-")) + "Action" for kind in kinds)}


def test_the_contract_of_a_team_has_any_words() -> None:
    contract = {"schemas": {"PizzaDeliveryAction": {"properties": {"delivery": {}}}}, "mapping": {"pizza-delivery": ""}}
    assert [*_keys_and_values(contract, of_teams({"executor-pizza-delivery"}))] == ["schemas", "mapping"]


def _keys_and_values(node: Any, left_out: Collection[str]) -> Iterator[str]:
    if isinstance(node, list):
        for one in node:
            yield from _keys_and_values(one, left_out)
    if isinstance(node, dict):
        for key, one in node.items():
            if key in ("security", "securitySchemes") or key in left_out:
                continue
            yield str(key)
            fixed = {"enum": one, "const": [one]}.get(key, [])
            yield from (value for value in fixed if isinstance(value, str) and value)
            yield from _keys_and_values(one, left_out)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what a circuit keeps back", True),
        ("is kept\n    back", True),
        ("it holds up its shard", True),
        ("it was put off", True),
        ("it is kept in the ledger", False),
        ("a hold of three seconds", False),
        ("put into the table", False),
    ],
)
def test_what_another_word_for_waiting_is(text: str, expected: bool) -> None:
    assert bool(OTHER_WORDS_FOR_WAITING.search(text)) == expected


@of_each(READ)
def test_one_word_for_waiting(folder: str) -> None:
    """All texts and all code are read, which takes more than a second. Decision records keep the words of their day."""
    kinds = (".py", ".md", ".html", ".yaml")
    sources = [path for path in files() if path.parts[0] == folder and path.suffix in kinds]
    texts = {path: (ROOT / path).read_text() for path in sorted(sources) if "adr" not in path.parts}
    if QUOTES_IT in texts:
        texts[QUOTES_IT] = OLD_MESSAGE.sub("", texts[QUOTES_IT])
    assert texts
    assert [f"{path}: {one[0]}" for path, text in texts.items() for one in OTHER_WORDS_FOR_WAITING.finditer(text)] == []
