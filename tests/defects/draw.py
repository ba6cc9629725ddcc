"""Draws changes by a seed: the same number from each area, and of an area from each layer, of each kind alike."""

import random
from collections import defaultdict
from pathlib import Path

from tests.defects.areas import AREAS, LAYERS, area_of, layer_of
from tests.defects.change import CODE, TEMPLATE, Change
from tests.defects.operators import Place, places, rights

SHARED_FILES = (
    "shared/delayer/wiring/use_cases.py",
    "shared/delayer/wiring/environment.py",
    "shared/delayer/wiring/bundle.py",
)


def all_changes(root: Path) -> list[Change]:
    """Every change that the operators can make."""
    found = []
    for path in sorted(path for code in CODE for path in (root / code).rglob("*.py")):
        file = path.relative_to(root).as_posix()
        layer = layer_of(file)
        if layer is None:
            continue
        for place in places(path.read_text(), layer == "wiring"):
            shared = file in SHARED_FILES
            area = area_of(place.function if shared else file)
            found.append(_change(area, layer, file, place))
    found += [
        _change(area_of(place.function), "IAM", TEMPLATE, place) for place in rights((root / TEMPLATE).read_text())
    ]
    return found


def _change(area: str, layer: str, file: str, place: Place) -> Change:
    return Change(
        area=area,
        layer=layer,
        operator=place.operator,
        file=file,
        function=place.function,
        before=place.before,
        after=place.after,
        nth=place.nth,
    )


def draw(root: Path, number: int, seed: int, without: frozenset[Change] = frozenset()) -> list[Change]:
    """So many of them, none twice and none of `without`."""
    chance = random.Random(seed)
    cells: dict[tuple[str, str], dict[str, list[Change]]] = defaultdict(lambda: defaultdict(list))
    for change in all_changes(root):
        if change not in without:
            cells[change.area, change.layer][change.operator].append(change)
    drawn: list[Change] = []
    layers = [*LAYERS]
    turn = 0
    while len(drawn) < number:
        for area, _ in AREAS:
            cell = next(
                cells[area, layers[(turn + more) % len(layers)]]
                for more in range(len(layers))
                if any(cells[area, layers[(turn + more) % len(layers)]].values())
            )
            operator = chance.choice(sorted(name for name, changes in cell.items() if changes))
            drawn.append(cell[operator].pop(chance.randrange(len(cell[operator]))))
        turn += 1
    return sorted(drawn[:number], key=lambda one: (one.area, one.layer, one.file, one.function, one.before, one.nth))
