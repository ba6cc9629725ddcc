"""Each page to look something up, in a real browser, light and dark, wide and narrow."""

from pathlib import Path

import pytest

from tests.browser.chromium import Visit
from tests.docs.browser.groups import DECISIONS, FACTS, GUIDES, group, pages
from tests.docs.browser.looks import problems
from tests.docs.browser.site import addresses


@pytest.mark.parametrize("name", FACTS)
def test_facts_work_for_everybody(seen: Visit, site: Path, name: str) -> None:
    """No error, no request off the site, no violation of WCAG 2.1 A or AA, nothing wider than the screen."""
    found = pages(site, name)
    assert found
    assert [problem for address in found for problem in problems(seen, address)] == []


def test_no_page_is_left_out(site: Path) -> None:
    assert {group(address) for address in addresses(site)} == {*DECISIONS, *GUIDES, *FACTS}
