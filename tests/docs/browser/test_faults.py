"""What the checks look for is found: a page with each fault is said to have it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import visit
from tests.docs.browser import looks
from tests.docs.browser.looks import problems
from tests.docs.browser.site import served

PAGE = """<!doctype html><html lang="en"><title>Faults</title>
<body data-md-color-scheme="default"><main><h1>Faults</h1>
<article><p style="color: #aaa; background: #fff">faint</p><img src="gone.png">
<div style="width: 900px">wide</div><pre class="mermaid">flowchrt TB</pre></article>
<label><input type="radio" id="__palette_0" onclick="document.body.dataset.mdColorScheme = 'default'">light</label>
<label><input type="radio" id="__palette_1" onclick="document.body.dataset.mdColorScheme = 'slate'">dark</label>
<img src="http://127.0.0.1:9/elsewhere.png" alt=""><script>console.error("broken"); throw Error("thrown");</script>
</main></body></html>"""
SAID = (
    "default: color-contrast",
    "slate: color-contrast",
    "default: image-alt",
    "not drawn: http",
    "not drawn: flowchrt",
    "pixels wider than a phone",
    "sticks out on a phone: <div",
    "request: http://127.0.0.1:9/elsewhere.png",
    "console: broken",
    "script: thrown",
)


pytestmark = pytest.mark.thorough


def test_each_fault_is_said(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wide and narrow, light and dark. It takes some seconds, because a real browser starts."""
    monkeypatch.setattr(looks, "PATIENCE", 500)
    (tmp_path / "index.html").write_text(PAGE)
    with served(tmp_path) as base, visit(browser, base) as seen:
        found = "\n".join(problems(seen, "/"))
    assert [one for one in SAID if one not in found] == []


GOOD = """<!doctype html><html lang="en"><title>Good</title><link rel="icon" href="data:,">
<body data-md-color-scheme="default">
<main><h1>Good</h1><article><p>A text with <a href="/" style="text-decoration: underline">a link</a>.</p>
<p>A text with <code>code</code>, and a text that is <b>as long</b>.</p><ul><li><a href="/">one</a></li></ul>
<label for="field">A field</label><input id="field"><img
src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>" alt="a">
</article>
<label><input type="radio" id="__palette_0" onclick="document.body.dataset.mdColorScheme = 'default'">light</label>
<label><input type="radio" id="__palette_1" onclick="document.body.dataset.mdColorScheme = 'slate'">dark</label>
</main></body></html>"""
CHANGES = {  # of a page that is alike in all else, and what is said of it
    ("<code>", '<code style="color: #bbb">'): "default: color-contrast",
    ("<code>", "<style>[data-md-color-scheme=slate] code { color: #bbb }</style><code>"): "slate: color-contrast",
    ('<a href="/">one</a>', '<a href="/"></a>'): "default: link-name",
    ('alt="a"', 'alt-text="a"'): "default: image-alt",
    ("<li>", "</ul><ul><div>"): "default: list",
    ('for="field"', 'for="feild"'): "default: label",
    (' style="text-decoration: underline"', ' style="text-decoration: none; color: #333"'): "link-in-text-block",
    ('lang="en"', 'lang="no language"'): "default: html-lang-valid",
    ("<title>Good</title>", ""): "default: document-title",
}


def test_a_fault_is_said_of_a_page_that_is_alike_in_all_else(browser: Browser, tmp_path: Path) -> None:
    """What was seen on the page before is not measured again; what is different is. A browser takes seconds for it."""
    for number, (before, after) in enumerate(CHANGES):
        assert GOOD.count(before) >= 1
        (tmp_path / f"{number}.html").write_text(GOOD.replace(before, after))
    (tmp_path / "good.html").write_text(GOOD)
    with served(tmp_path) as base, visit(browser, base) as seen:
        assert problems(seen, "/good.html") == []
        assert problems(seen, "/good.html") == []
        found = {said: problems(seen, f"/{number}.html") for number, said in enumerate(CHANGES.values())}
    assert {said: lines for said, lines in found.items() if said not in "\n".join(lines)} == {}
