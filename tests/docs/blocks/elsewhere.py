"""Blocks that a test of their own runs, with what only that page needs. They are not run a second time."""

from functools import cache
from typing import Final

from tests.docs.blocks.fences import SHELL, Fence
from tests.docs.extension.test_tutorial import MORE, TUTORIALS, performed

TUTORIAL: Final = "tests/docs/extension/test_tutorial.py"
TESTS: Final = {  # (page, language): who runs all such blocks of the page
    ("use/client.md", "python"): "tests/client/test_pages.py",
    ("use/testing.md", "python"): "tests/client/testing/test_page.py",
    ("use/command-line.md", "sh"): "tests/client/cli/test_page.py",
    ("use/signatures.md", "python"): "tests/docs/signatures/test_receivers.py",
    ("extend/harness.md", "python"): "tests/docs/extension/test_harness.py",
    ("extend/other-stacks.md", "python"): "tests/docs/extension/test_other_stacks.py",
}


@cache
def _performed(page: str) -> frozenset[str]:
    """What the tutorials of the page do, by its text."""
    return frozenset(step.text for step in performed(page) if step.title or step.language in SHELL)


def runner_of(fence: Fence) -> str:
    """The test that runs it; nothing if none does."""
    of_page = [page for page in TUTORIALS if fence.page in (page, MORE.get(page))]
    if any(fence.text in _performed(page) for page in of_page):
        return TUTORIAL
    return TESTS.get((fence.page, fence.language), "")
