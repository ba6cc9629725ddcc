"""Links of generated text lead to pages and headings that are there; each marker stands for something."""

import re
from functools import cache
from pathlib import Path

from markdown.extensions.toc import slugify  # type: ignore[import-untyped]

from docs.hooks.reference import pages
from docs.hooks.reference.functions import page
from tests.cfn import ROOT
from tests.docs.test_actions import PAGES as ACTIONS
from tests.running.of_each import of_each

DOCS = ROOT / "docs"
WITH_MARKERS = {
    path.relative_to(DOCS).as_posix(): path.read_text()
    for path in DOCS.rglob("*.md")
    if "<!-- generated: " in path.read_text()
}
TEXTS = {path: pages.filled(text, path) for path, text in WITH_MARKERS.items()} | page.pages()


@cache
def anchors(path: Path) -> set[str]:
    """The ids of the headings and of what has one given."""
    name = path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else ""
    text = TEXTS.get(name) or path.read_text()
    headings = re.findall(r"^#+ (.+?)(?: \{ #[\w-]+ \})?$", text, re.MULTILINE)
    return {slugify(re.sub(r"[`*]", "", one), "-") for one in headings} | set(re.findall(r"\{ #([\w-]+) \}", text))


@of_each(sorted(TEXTS))
def test_links_lead_to_pages_and_headings(path: str) -> None:
    plain = re.sub(r"^```.*?^```", "", TEXTS[path], flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", plain):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        aimed = (DOCS / path).parent / file if file else DOCS / path
        resolved = Path(*aimed.parts).resolve()
        name = resolved.relative_to(DOCS).as_posix() if resolved.is_relative_to(DOCS) else ""
        assert name in TEXTS or name in ACTIONS or resolved.exists(), target
        if anchor:
            assert anchor in anchors(resolved), target


def test_no_link_is_left_as_it_is_written_in_the_hooks() -> None:
    assert [path for path, text in TEXTS.items() if "](docs:" in text] == []


def test_every_marker_stands_for_something_and_everything_has_a_marker() -> None:
    named = [marker[1] for text in WITH_MARKERS.values() for marker in pages.MARKER.finditer(text)]
    assert set(named) == set(pages.MAKERS)
