"""The search finds what people ask for."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Visit

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


pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def searched(with_search: Visit) -> Visit:
    """Its index is built once."""
    with_search.open("/").keyboard.press("/")
    return with_search


@pytest.mark.parametrize("asked", ASKED)
def test_the_page_that_answers_is_among_the_first(searched: Visit, asked: str) -> None:
    """The first search takes seconds: the page builds the index of all pages."""
    page = searched.page
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.press("Backspace")
    expect(page.locator(".md-search-result__meta")).to_contain_text("Type to start")
    page.keyboard.insert_text(asked)
    page.keyboard.press("End")  # the search looks up what is there after a key
    expect(page.locator(".md-search-result__meta")).to_contain_text(re.compile("matching"))
    expect(page.locator(".md-search-result__item").first).to_be_attached()
    found: list[str] = list(dict.fromkeys(page.evaluate(FOUND)))  # a page is listed with those of its sections that fit
    assert f"/{ASKED[asked]}" in found[:FIRST]
    assert searched.complaints == []
