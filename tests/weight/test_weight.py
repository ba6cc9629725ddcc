"""The counting of `make weight` is right, and nothing gets heavier than its limit says."""

import warnings
from pathlib import Path

import pytest

from tests.cfn import ROOT
from tests.weight.__main__ import main, table
from tests.weight.figures import FIGURES, Limit, figures, limits, verdict
from tests.weight.lines import Weight, python_files, weight_of
from tests.weight.rooms import rooms_in, upwards
from tests.weight.stack import added

SOURCE = '''\
"""A module.

It has a docstring of three lines."""

import os  # a comment beside an import
from typing import (
    Protocol,
)

# a comment

TEXT = """not a docstring

but a text"""


class Port(Protocol[int]):
    """Of one line."""

    def answer(self, given: int) -> int:
        """Gives it back.

        Errors: none.
        """
        from os import path

        return given

    def _own(self) -> None: ...


class Answer(Port):
    """Part of Port."""

    def answer(
        self,
        given: int,
    ) -> int:
        """Port Port."""

        def inner() -> int:
            """Of nobody else."""
            return given

        return inner()


class _Hidden(Port):
    def seen(self) -> None: ...
'''


def test_what_is_counted_of_a_file() -> None:
    assert weight_of(SOURCE) == Weight(
        lines=49,
        code=2 + 4 + 8 + 2,  # the text without its blank line; the three classes
        imports=5,
        docstrings=1 + 4,  # of `Port` and its `answer`: the others are nobody's, or only say which port they answer
        names=4,
        protocols=1,
        classes=("Port", "Answer"),
    )


def test_imports_are_found_wherever_they_stand() -> None:
    places = ["if a:\n    {}", "if a:\n    b\nelse:\n    {}", "try:\n    {}\nfinally:\n    a", "with a:\n    {}"]
    places += ["try:\n    a\nexcept B:\n    {}", "try:\n    a\nfinally:\n    {}", "match a:\n    case 1:\n        {}"]
    places += ["for a in b:\n    {}\nelse:\n    c", "while a:\n    {}", "async def a():\n    {}", "class A:\n    {}"]
    assert [weight_of(place.format("import os") + "\n").imports for place in places] == [1] * len(places)


def test_an_empty_file_weighs_nothing() -> None:
    assert weight_of("") == Weight()


@pytest.mark.parametrize(
    ("bases", "is_one"),
    [("Protocol", 1), ("typing.Protocol", 1), ("Protocol[T]", 1), ("Sized, Protocol", 1), ("HttpProtocol", 0)],
)
def test_what_a_protocol_is(bases: str, is_one: int) -> None:
    assert weight_of(f"class One({bases}): ...\n").protocols == is_one


def tree(root: Path, files: dict[str, str]) -> Path:
    """A small tree with two rooms, the second below the first."""
    rooms = 'ROOMS: dict[str, set[str]] = {\n    "upper": set(),\n    "lower": {"upper"},\n}\n'
    for name, text in {"tests/rooms.py": rooms, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_an_arrow_upwards_is_counted_once_for_two_rooms(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "shared/delayer/upper/one.py": "from delayer.lower.two import a\nimport delayer.lower.two\nimport os\n",
            "shared/delayer/lower/two.py": "from delayer.upper import one\nfrom delayer.lower import three\n",
            "shared/delayer/lowered.py": "from delayer.lower import two\n",
        },
    )
    assert upwards(root) == {("upper", "lower")}


def test_rooms_are_in_the_order_of_the_table() -> None:
    names = rooms_in(ROOT)
    assert names[0] == "schedule"
    assert len(names) == len(set(names)) > 20
    assert set(names) <= {path.stem for path in (ROOT / "shared/delayer").iterdir()}


def test_the_figures_of_a_small_package(tmp_path: Path) -> None:
    """Those of Python; a template is not counted here."""
    root = tree(
        tmp_path,
        {
            "shared/delayer/__init__.py": "",
            "shared/delayer/upper/one.py": "import os\n\n\nclass Same: ...\n\n\nclass _Own: ...\n",
            "shared/delayer/lower/two.py": "class Same: ...\n\n\nclass _Own: ...\n",
            "shared/delayer/.cache/three.py": "class Same: ...\n",
            "functions/executor-of-a-team/app.py": "ONE = 1\n",
            "functions/executor-canary/app.py": "ONE = 1\n",
        },
    )
    of_python = [name for name in FIGURES if name not in ("template", "resources", "resources by default")]
    assert {name: FIGURES[name](root) for name in of_python} == {
        "code": 4,
        "code together": 5,
        "files": 2,
        "folders": 3,
        "imports": 9.1,
        "protocols": 0,
        "arrows upwards": 0,
        "names with two meanings": 1,
        "docstrings": 0,
    }
    assert added(root) == 1


AT_MOST = Limit(what="of something", limit=10, for_each_added=3)
AT_LEAST = Limit(what="of something", limit=10, may_not_fall=True)


@pytest.mark.parametrize(
    ("figure", "limit", "said"),
    [
        (10, AT_MOST, ""),
        (11, AT_MOST, "it: 11 is above its limit, 10. Take something out"),
        (9, AT_MOST, "it: 9 is better than its limit, 10: write it into limits.json."),
        (10, AT_LEAST, ""),
        (9, AT_LEAST, "it: 9 is below its limit, 10. Say in the docstrings"),
        (11, AT_LEAST, "it: 11 is better than its limit, 10"),
        (13, AT_MOST.after(1), ""),
    ],
)
def test_what_is_said_of_a_figure(figure: float, limit: Limit, said: str) -> None:
    assert verdict("it", figure, limit).startswith(said)
    assert bool(said) == bool(verdict("it", figure, limit))
    assert limit.is_kept_by(figure) == ("above" not in said and "below" not in said)


def test_a_limit_is_neither_beyond_its_goal_nor_of_nothing() -> None:
    assert list(limits()) == list(FIGURES)
    for name, limit in limits().items():
        assert limit.goal is None or limit.limit >= limit.goal, f"{name} is better than its goal: lower the goal, too"


def test_nothing_is_heavier_than_its_limit() -> None:
    """What has become lighter is told as a warning: its limit can be lowered. Six seconds: a thousand files are read
    token by token, and the template is transformed twice.
    """
    found, may = figures(), {name: limit.after(added(ROOT)) for name, limit in limits().items()}
    for name, limit in may.items():
        if limit.is_kept_by(found[name]) and (text := verdict(name, found[name], limit)):
            warnings.warn(text, stacklevel=1)
    assert [verdict(name, found[name], limit) for name, limit in may.items() if not limit.is_kept_by(found[name])] == []


def test_the_table_has_each_figure_with_its_limit_and_its_goal() -> None:
    found = {name: limit.limit + (name == "files") for name, limit in limits().items()}
    printed = table(found, limits()).splitlines()
    assert [line[:24].strip() for line in printed[1 : len(found) + 1]] == list(FIGURES)
    assert [line[42:51].strip() for line in printed[1:3]] == ["16,500", ""]
    assert printed[-1].startswith("files: ")


def test_the_command_fails_as_the_test_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.weight.__main__.figures", lambda root: dict.fromkeys(FIGURES, 10**6))
    assert main([str(tmp_path)]) == 1
    best = {name: 10**6 if limit.may_not_fall else 0 for name, limit in limits().items()}
    monkeypatch.setattr("tests.weight.__main__.figures", lambda root: best)
    assert main([str(tmp_path)]) == 0


def test_what_a_tool_has_put_there_is_not_counted(tmp_path: Path) -> None:
    for name in ("one.py", ".venv/two.py", "inside/.cache/three.py", "inside/four.py", "five.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert [path.name for path in python_files(tmp_path)] == ["four.py", "one.py"]
