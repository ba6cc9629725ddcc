"""Every page in a real browser, light and dark, wide and narrow.

The pages are dealt out like cards, so that all are looked at, and the processes of pytest-xdist, which takes a class as
a whole, have equal shares. A process does not look twice at what is alike on its pages: tests/browser/alike.py. The
menu of all pages is whole on the first page of each folder alone.
"""

from pathlib import Path, PurePosixPath

import pytest

from tests.browser.chromium import Visit
from tests.docs.browser.looks import problems
from tests.docs.browser.site import addresses

CLASSES = 2
PARTS = 8
parts = pytest.mark.parametrize("part", range(PARTS))
pytestmark = pytest.mark.thorough


def found(seen: Visit, site: Path, which: int, part: int) -> list[str]:
    """What is wrong with the pages of a part."""
    pages = addresses(site)
    dealt, whole = pages[which::CLASSES][part::PARTS], first_of_each_folder(pages)
    assert dealt
    return [one for address in dealt for one in problems(seen, address, has_whole_menu=address in whole)]


def first_of_each_folder(pages: list[str]) -> set[str]:
    """On these the menu is measured: those of a folder have the same one, with another entry marked."""
    return set({PurePosixPath(address).parent: address for address in reversed(pages)}.values())


class TestFirst:
    @parts
    def test_pages_work_for_everybody(self, seen: Visit, site: Path, part: int) -> None:
        """No error, no request off the site, no violation of WCAG 2.1 A or AA, nothing wider than the screen.

        To open a page of the theme and to lay it out twice takes a third of a second, and these are some seventeen.
        """
        assert found(seen, site, 0, part) == []


class TestSecond:
    @parts
    def test_pages_work_for_everybody(self, seen: Visit, site: Path, part: int) -> None:
        """As above, of the other half of the pages: a third of a second for each."""
        assert found(seen, site, 1, part) == []
