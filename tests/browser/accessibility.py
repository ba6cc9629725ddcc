"""What axe-core says of a page: violations of WCAG 2.1 A and AA."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Frame, Page

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
COLOURS = ["color-contrast", "link-in-text-block"]  # those that a theme may break
# Of the pieces of code that have the same colour, one is measured: a page has a thousand of them.
ALIKE = """() => {
    const known = new Set();
    for (const one of document.querySelectorAll('pre span[class]'))
        if (known.has(one.className)) one.dataset.alike = ''; else known.add(one.className);
}"""
RUN = """settings => axe.run({exclude: [['[data-alike]']]}, settings).then(found => found.violations)"""


def violations(page: Page | Frame, rules: list[str]) -> list[str]:
    """Of WCAG 2.1 A and AA, also those of the theme and of Swagger UI: our style sheets mend them."""
    kind = "rule" if rules == COLOURS else "tag"
    settings = {"runOnly": {"type": kind, "values": rules}, "resultTypes": ["violations"], "preload": False}
    page.evaluate(ALIKE)
    found = page.evaluate(RUN, settings)
    return [said(one, node) for one in found for node in one["nodes"]]


def said(violation: dict[str, Any], node: dict[str, Any]) -> str:
    """With the place, and what was measured."""
    measured = [check["message"] for check in (*node["any"], *node["all"], *node["none"])][:1]
    return f"{violation['id']}: {node['html'][:160]} ({'; '.join(measured)})"
