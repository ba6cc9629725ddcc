"""What axe-core says of a page: violations of WCAG 2.1 A and AA."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Frame, Page

from tests.browser.alike import MARK

AXE = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
COLOURS = ["color-contrast", "link-in-text-block"]  # those that a theme may break
# Of the pieces of code that have the same colour, one is measured: a page has a thousand of them.
ALIKE = """() => {
    const known = new Set();
    for (const one of document.querySelectorAll('pre span[class]'))
        if (known.has(one.className)) one.dataset.alike = ''; else known.add(one.className);
}"""
RUN = "settings => axe.run({exclude: [['[data-alike]']]}, settings).then(found => found.violations)"
RUN_ONCE = f"""([settings, store, isOfColours]) =>
    {MARK}(store, isOfColours) || !isOfColours ? ({RUN})(settings) : []"""


def violations(page: Page | Frame, rules: list[str]) -> list[str]:
    """Of WCAG 2.1 A and AA, also those of the theme and of Swagger UI: our style sheets mend them."""
    page.evaluate(ALIKE)
    return lines_of(page.evaluate(RUN, settings(rules)))


def new_violations(page: Page, rules: list[str], theme: str) -> list[str]:
    """The same, of what has not been looked at in this theme on a page that was open before in the same tab."""
    return lines_of(page.evaluate(RUN_ONCE, [settings(rules), f"alike-{theme}", rules == COLOURS]))


def settings(rules: list[str]) -> dict[str, Any]:
    """Of a run."""
    kind = "rule" if rules == COLOURS else "tag"
    return {"runOnly": {"type": kind, "values": rules}, "resultTypes": ["violations"], "preload": False}


def lines_of(found: list[dict[str, Any]]) -> list[str]:
    """One line for each place."""
    return [said(one, node) for one in found for node in one["nodes"]]


def said(violation: dict[str, Any], node: dict[str, Any]) -> str:
    """With the place, and what was measured."""
    measured = [check["message"] for check in (*node["any"], *node["all"], *node["none"])][:1]
    return f"{violation['id']}: {node['html'][:160]} ({'; '.join(measured)})"
