"""The arrows between the rooms of the package, in the order in which tests/rooms.py has them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.weight.lines import python_files, statements


def upwards(root: Path) -> set[tuple[str, str]]:
    """Each pair of rooms of which the first imports the second, which stands below it."""
    rooms = rooms_in(root)
    return {(room, other) for room, other in arrows(root, rooms) if rooms.index(other) > rooms.index(room)}


def rooms_in(root: Path) -> list[str]:
    """Their names, in order. They are read, not imported: the tree may be another one."""
    tree = ast.parse((root / "tests/rooms.py").read_text(encoding="utf-8"))
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id="ROOMS"), value=ast.Dict(keys=keys)):
                return [str(key.value) for key in keys if isinstance(key, ast.Constant)]
    raise ValueError("tests/rooms.py has no table ROOMS")


def arrows(root: Path, rooms: list[str]) -> Iterator[tuple[str, str]]:
    """From a room to each that it imports from, once for each import."""
    package = root / "shared/delayer"
    for path in python_files(package):
        room = _room(path.relative_to(package).as_posix(), rooms)
        for name in _imported(path):
            other = _room(name.replace(".", "/"), rooms)
            if room and other and other != room:
                yield room, other


def _room(path: str, rooms: list[str]) -> str | None:
    """Of a path below the package. A room may lie in another one."""
    return max((room for room in rooms if f"{path}/".startswith(f"{room}/")), key=len, default=None)


def _imported(path: Path) -> Iterator[str]:
    """What is imported of the package, by its name below it."""
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.removeprefix("delayer.") for name in names if name.startswith("delayer."))
