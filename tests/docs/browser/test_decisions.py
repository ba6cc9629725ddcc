"""Each decision record in a real browser, light and dark, wide and narrow."""

from pathlib import Path

import pytest

from tests.browser.chromium import Visit
from tests.docs.browser.groups import DECISIONS, pages
from tests.docs.browser.looks import problems


@pytest.mark.parametrize("name", DECISIONS)
def test_decision_records_work_for_everybody(seen: Visit, site: Path, name: str) -> None:
    """No error, no request off the site, no violation of WCAG 2.1 A or AA, nothing wider than the screen."""
    found = pages(site, name)
    assert found
    assert [problem for address in found for problem in problems(seen, address)] == []
