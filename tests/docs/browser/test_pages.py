"""Every page in a real browser, light and dark, wide and narrow.

The pages are dealt out like cards: so all are looked at, each part takes seconds, and the processes of pytest-xdist,
which takes a class as a whole, have equal shares.
"""

from pathlib import Path

import pytest

from tests.browser.chromium import Visit
from tests.docs.browser.looks import problems
from tests.docs.browser.site import addresses

CLASSES = 4
PARTS = 8
parts = pytest.mark.parametrize("part", range(PARTS))


def found(seen: Visit, site: Path, which: int, part: int) -> list[str]:
    """What is wrong with the pages of a part."""
    dealt = addresses(site)[which::CLASSES][part::PARTS]
    assert dealt
    return [problem for address in dealt for problem in problems(seen, address)]


class TestFirst:
    @parts
    def test_pages_work_for_everybody(self, seen: Visit, site: Path, part: int) -> None:
        """No error, no request off the site, no violation of WCAG 2.1 A or AA, nothing wider than the screen."""
        assert found(seen, site, 0, part) == []


class TestSecond:
    @parts
    def test_pages_work_for_everybody(self, seen: Visit, site: Path, part: int) -> None:
        assert found(seen, site, 1, part) == []


class TestThird:
    @parts
    def test_pages_work_for_everybody(self, seen: Visit, site: Path, part: int) -> None:
        assert found(seen, site, 2, part) == []


class TestFourth:
    @parts
    def test_pages_work_for_everybody(self, seen: Visit, site: Path, part: int) -> None:
        assert found(seen, site, 3, part) == []
