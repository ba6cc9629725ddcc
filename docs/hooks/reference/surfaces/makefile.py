"""Every target of the Makefile, from the comment behind its name."""

import re
from functools import cache

from docs.hooks.reference.text import ROOT, listed, sentence

TARGET = re.compile(r"^([a-z][a-z -]*):([^=\n#]*)(?:## (.*))?$")
GIVEN = re.compile(r"[A-Z_]+=(?:\"[^\"]*\"|[^\s;]+)")
VARIABLE = re.compile(r"^([A-Z_]+) \?= ?(.*)$", re.MULTILINE)


@cache
def makefile() -> str:
    """Its text."""
    return (ROOT / "Makefile").read_text(encoding="utf-8")


@cache
def described() -> dict[str, str]:
    """What each target does, in the order of the file."""
    found = (TARGET.match(line) for line in makefile().splitlines())
    return {one[1]: one[3] for one in found if one and one[3]}


def recipes() -> dict[str, str]:
    """The lines below each target; several may share them."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in makefile().splitlines():
        if heading := TARGET.match(line):
            names = heading[1].split()
        elif line.startswith("\t"):
            for name in names:
                found[name] = found.get(name, "") + line + "\n"
        elif line:
            names = []
    return found


@cache
def defaults() -> dict[str, str]:
    """The variables that a caller may give, each with its default."""
    return dict(VARIABLE.findall(makefile()))


def variables(target: str) -> list[str]:
    """Those that its recipe reads and a caller may give; of a recipe for several targets, those in the comment."""
    own = recipes().get(target, "")
    recipe = own.replace("$(OVERRIDES)", "$(PARAMETERS)")
    read = [name for name in defaults() if f"$({name})" in recipe or f"$(if $({name})" in recipe]
    is_shared = list(recipes().values()).count(own) > 1
    return [name for name in read if f"{name}=" in described()[target]] if is_shared else read


def targets() -> str:
    """A section for each."""
    return "\n".join(section(name, text) for name, text in described().items())


def section(name: str, text: str) -> str:
    """What it does, its variables, and what the comment gives as an example."""
    begins, _, example = text.partition(" (")
    given = defaults()
    taken = [f"`{one}` (`{given[one]}` by default)" if given[one] else f"`{one}`" for one in variables(name)]
    lines = [
        f"### `make {name}` {{ #{name} }}\n",
        f"{sentence(begins)}\n",
        *([f"- **Variables**: {listed(taken)}"] if taken else []),
        *([f"- **For example**: {GIVEN.sub(lambda one: f'`{one[0]}`', example.removesuffix(')'))}"] if example else []),
        "",
    ]
    return "\n".join(lines)
