"""The figures of `make weight`: what each is called, what it is in a tree, what it may be, and what it is to become."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from tests.cfn import ROOT
from tests.template.added import is_added
from tests.weight.lines import python_files, weigh
from tests.weight.rooms import upwards
from tests.weight.stack import all_resources, default_resources, lines

LIMITS: Final = Path(__file__).with_name("limits.json")
TAKE_OUT: Final = (
    "Take something out, or say it in one place. If what was added is worth its weight, write the new figure into "
    "tests/weight/limits.json, and say in the commit what for."
)
SAY: Final = "Say in the docstrings of public names what they take, give and raise."
TOGETHER: Final = ("shared", "client", "functions", "local", "operate", "docs/hooks")


@frozen(kw_only=True)
class Limit:
    """Of one figure. A team that adds a function may have `for_each_added` more of it."""

    what: str
    limit: float
    goal: float | None = None
    may_not_fall: bool = False  # of what is worth having
    for_each_added: int = 0

    def after(self, functions: int) -> "Limit":
        """What it is in a tree to which so many functions were added."""
        return Limit(
            what=self.what,
            limit=self.limit + functions * self.for_each_added,
            goal=self.goal,
            may_not_fall=self.may_not_fall,
        )

    def is_kept_by(self, figure: float) -> bool:
        return figure >= self.limit if self.may_not_fall else figure <= self.limit


def limits() -> dict[str, Limit]:
    """By the name of the figure, as they are stored."""
    return {name: Limit(**one) for name, one in json.loads(LIMITS.read_text(encoding="utf-8")).items()}


def figures(root: Path = ROOT) -> dict[str, float]:
    """What the tree weighs, by the names of the limits. It takes some seconds: all files are parsed."""
    return {name: count(root) for name, count in FIGURES.items()}


def _of_package(of: Callable[[list[Path]], float]) -> Callable[[Path], float]:
    return lambda root: of(python_files(root / "shared/delayer"))


def _code_together(root: Path) -> int:
    """What a team has added is no code of Delayer."""
    paths = [path for folder in TOGETHER for path in python_files(root / folder)]
    return weigh(path for path in paths if not is_added(path.parent.name)).code


def _names_with_two_meanings(paths: list[Path]) -> int:
    counted = Counter(weigh(paths).classes)
    return sum(number > 1 for number in counted.values())


def _share_of_imports(paths: list[Path]) -> float:
    weight = weigh(paths)
    return round(100 * weight.imports / weight.lines, 1)


def _docstrings(paths: list[Path]) -> float:
    weight = weigh(paths)
    return round(weight.docstrings / weight.names, 2)


FIGURES: Final[Mapping[str, Callable[[Path], float]]] = {
    "code": _of_package(lambda paths: weigh(paths).code),
    "code together": _code_together,
    "files": _of_package(lambda paths: len([path for path in paths if path.name != "__init__.py"])),
    "folders": _of_package(lambda paths: len({path.parent for path in paths})),
    "imports": _of_package(_share_of_imports),
    "protocols": _of_package(lambda paths: weigh(paths).protocols),
    "arrows upwards": lambda root: len(upwards(root)),
    "names with two meanings": _of_package(_names_with_two_meanings),
    "docstrings": _of_package(_docstrings),
    "template": lines,
    "resources": all_resources,
    "resources by default": default_resources,
}


def verdict(name: str, figure: float, limit: Limit) -> str:
    """What is to be done about a figure; empty if it is at its limit."""
    if figure == limit.limit:
        return ""
    if limit.is_kept_by(figure):
        return f"{name}: {shown(figure)} is better than its limit, {shown(limit.limit)}: write it into {LIMITS.name}."
    side, remedy = ("below", SAY) if limit.may_not_fall else ("above", TAKE_OUT)
    return f"{name}: {shown(figure)} is {side} its limit, {shown(limit.limit)}. {remedy}"


def shown(figure: float | None) -> str:
    """As it stands in the table."""
    if figure is None:
        return ""
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:g}"
