"""The search finds what people ask for."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import Visit, visit

# What is typed, and the page that answers it.
ASKED = {
    "upgrade": "operate/upgrade/",
    "encryption": "decide/data/",
    "KMS": "decide/data/",
    "changelog": "project/changelog/",
    "Temporal": "decide/compared/",
    "ADR 0018": "adr/0018-ledger-decides/",
    "0018": "adr/0018-ledger-decides/",
    "restore": "operate/restore/",
    "cost": "decide/cost/",
}
FIRST = 5
FOUND = "() => [...document.querySelectorAll('.md-search-result__item > a')].map(one => new URL(one.href).pathname)"


@pytest.fixture(scope="module")
def searched(browser: Browser, base: str) -> Iterator[Visit]:
    """Its index is built once."""
    with visit(browser, base) as seen:
        seen.open("/").keyboard.press("/")
        yield seen


@pytest.mark.parametrize("asked", ASKED)
def test_the_page_that_answers_is_among_the_first(searched: Visit, asked: str) -> None:
    page = searched.page
    page.locator(".md-search__input").fill("")
    page.keyboard.type(asked)
    found = list(dict.fromkeys(settled(page)))  # a page is listed with those of its sections that fit
    assert f"/{ASKED[asked]}" in found[:FIRST]
    assert searched.complaints == []


def settled(page: Page) -> list[str]:
    """What is found when the last letter has been looked up."""
    expect(page.locator(".md-search-result__meta")).to_contain_text(re.compile("matching"), timeout=20_000)
    before: list[str] = []
    for _ in range(50):
        page.wait_for_timeout(200)
        found: list[str] = page.evaluate(FOUND)
        if found == before:
            break
        before = found
    return before
