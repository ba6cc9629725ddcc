"""Each block of the pages that could be run is run by a test, or its page says in a comment why not."""

import re

from tests.cfn import ROOT
from tests.docs.blocks.elsewhere import TESTS, runner_of
from tests.docs.blocks.fences import LANGUAGES, Fence, all_fences, fences_in
from tests.running.of_each import of_each

FENCES = [fence for fence in all_fences() if fence.language in LANGUAGES]
HOW = (
    "A shell or Python block is run on a stack by tests/e2e/docs, and this one cannot be: it calls {0}. Put a comment "
    "on the line before it: `<!-- aws -->` if it needs AWS, or `<!-- not run: why -->`. Readers do not see it."
)
# What cannot be run on the stack of the tests, whatever else the block does.
NEVER_RUN = {
    "the AWS CLI": r"^\s*aws ",
    "SAM": r"^\s*sam ",
    "pip": r"^\s*pipx? ",
    "git": r"^\s*git ",
    "an address in AWS": r"amazonaws\.com",
    "a make target that takes long or needs AWS": r"^\s*make (?!flow|dead-letters|owner-policy)[a-z]",
}
TEXT = """\
<!-- aws -->
```sh
make deploy
```

=== "Python"

    ```python
    x = "```"
    ```

=== "curl"

    <!-- not run: it takes a year -->
    ```sh
    sleep
    ```

Text.

<!-- record: bugs -->

````markdown title="a.md"
```sh
inner
```
````
"""


def test_blocks_are_found_with_their_files_marks_and_tabs() -> None:
    found = [(one.language, one.title, one.tab, one.marker, one.text) for one in fences_in("a.md", TEXT)]
    assert found == [
        ("sh", "", "", "aws", "make deploy\n"),
        ("python", "", "Python", "", 'x = "```"\n'),
        ("sh", "", "curl", "not run: it takes a year", "sleep\n"),
        ("markdown", "a.md", "", "", "```sh\ninner\n```\n"),
    ]


@of_each(FENCES)
def test_somebody_runs_it_or_the_page_says_why_not(fence: Fence) -> None:
    if fence.is_run and not runner_of(fence):
        why = [name for name, pattern in NEVER_RUN.items() if re.search(pattern, fence.text, re.MULTILINE)]
        assert not why, f"{fence.place}: {HOW.format(why[0])}"


@of_each(TESTS, unpacked=True)
def test_a_test_elsewhere_reads_the_page(page: str, language: str) -> None:
    assert f"docs/{page}" in (ROOT / TESTS[page, language]).read_text()
    assert [fence for fence in FENCES if (fence.page, fence.language) == (page, language)]


def test_tabs_have_the_same_labels_everywhere_in_the_same_order() -> None:
    known = ["Python", "Command line", "curl", "boto3"]
    for fence in all_fences():
        assert fence.tab in ("", *known, "asyncio"), fence.place
