"""What the pages of operators tell to type is understood by our commands, also what stands within a sentence.

Blocks, and what they call of AWS, are read by tests/docs/blocks.
"""

import re
import shlex

from delayer_client.cli.session import Surroundings
from operate.restore import options as restore_options
from tests.cfn import ROOT
from tests.client.cli.conftest import Cli
from tests.client.cli.test_help import understood
from tests.running.of_each import of_each

PAGES = sorted((ROOT / "docs/operate").glob("*.md"))
CALLED = {"dead-letters": "dead-letters", "flow": "flow", "owner-policy": "policy", "verify": "verify"}
GIVEN = re.compile(
    r"make (restore|dead-letters|flow|owner-policy|verify)[^\n`]*? ARGS=(?:\"((?:\\.|[^\"\\])*)\"|([^\s`\"]+))"
)
MADE = sorted(
    {
        (page.name, name, quoted or bare)
        for page in PAGES
        for name, quoted, bare in GIVEN.findall(page.read_text().replace("\\\n", " "))
        if "--help" not in quoted + bare
    }
)


@of_each(MADE, unpacked=True)
def test_a_command_of_ours_takes_these_arguments(page: str, name: str, args: str) -> None:
    words = shlex.split(args.replace('\\"', '"'))
    if name == "restore":
        assert restore_options.parse(words), page
    else:
        no_stack = Cli(surroundings=Surroundings(), fake=None)  # type: ignore[arg-type] # it is read, and not called
        assert understood([CALLED[name], *words], no_stack) == [], page


def test_the_commands_of_ours_were_found() -> None:
    assert {name for _, name, _ in MADE} == {"restore", *CALLED}
