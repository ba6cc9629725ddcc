"""The first page that somebody sees, in a real browser. All others are in test_pages.py."""

from tests.browser.chromium import Visit
from tests.docs.browser.looks import problems


def test_the_home_page_works_for_everybody(seen: Visit) -> None:
    """Light and dark, wide and narrow: no error, no request off the site, no violation of WCAG 2.1 A or AA, nothing
    wider than the screen. It takes some seconds, because the site is built for it unless another test has done so.
    """
    assert problems(seen, "/") == []
