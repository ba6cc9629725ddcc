"""Draws pictures that are made from data.

A hook of mkdocs. Where a page has a line `<!-- picture: NAME -->`, it shows the SVG that `draw()` of
`docs/pictures/NAME.py` returns. The drawing is part of the page, so it takes the colours of the theme, light or dark.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
PLACE = re.compile(r"^<!-- picture: ([a-z_]+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its pictures."""
    return PLACE.sub(lambda place: f'<figure class="picture">\n{drawn(place[1])}\n</figure>', markdown)


def drawn(name: str) -> str:
    """The SVG, on lines without a gap: an empty line would end the HTML in Markdown."""
    spec = importlib.util.spec_from_file_location(f"picture_{name}", FOLDER / f"{name}.py")
    if not spec or not spec.loader:
        raise FileNotFoundError(f"there is no picture {name} in docs/pictures")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return "\n".join(line for line in module.draw().splitlines() if line.strip())
