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


def test_each_fault_is_said(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "PATIENCE", 500)
    (tmp_path / "index.html").write_text(PAGE)
    with served(tmp_path) as base, visit(browser, base) as seen:
        found = "\n".join(problems(seen, "/"))
    assert [one for one in SAID if one not in found] == []
