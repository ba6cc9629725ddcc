"""Draws pictures that are made from data.

A hook of mkdocs. Where a page has a line `<!-- picture: NAME -->`, it shows the SVG that `draw()` of
`docs/pictures/NAME.py` returns. The drawing is part of the page, so it takes the colours of the theme, light or dark.
"""

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/pictures"
PLACE = re.compile(r"^<!-- picture: ([a-z_]+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its pictures."""
    return PLACE.sub(lambda place: f'<figure class="picture">\n{drawn(place[1])}\n</figure>', markdown)


def drawn(name: str) -> str:
    """The SVG, on lines without a gap: an empty line would end the HTML in Markdown."""
    make_importable()
    spec = importlib.util.spec_from_file_location(f"picture_{name}", FOLDER / f"{name}.py")
    if not spec or not spec.loader:
        raise FileNotFoundError(f"there is no picture {name} in docs/pictures")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return "\n".join(line for line in module.draw().splitlines() if line.strip())


def make_importable() -> None:
    """A picture may show what the code beside it has, and share `docs.pictures.…` with another.

    Not when the hook is loaded: mkdocs restores the path after that.
    """
    for place in (ROOT / "shared", ROOT):
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
