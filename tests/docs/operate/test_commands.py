"""What the pages of operators tell to type is understood by our commands, also what stands within a sentence.

Blocks, and what they call of AWS, are read by tests/docs/blocks.
"""

import re
import shlex
from typing import Any

from operate import dead_letters
from operate.restore import options as restore_options
from operate.verify import options as verify_options
from tests.cfn import ROOT
from tests.running.of_each import of_each

PAGES = sorted((ROOT / "docs/operate").glob("*.md"))
PARSERS: dict[str, Any] = {
    "restore": restore_options.parse,
    "dead-letters": lambda argv: dead_letters.parser().parse_args(argv),
    "verify": lambda argv: verify_options.parse(["--url", "https://api", *argv]),
}
GIVEN = re.compile(r"make (restore|dead-letters|verify)[^\n`]*? ARGS=(?:\"([^\"]*)\"|([^\s`\"]+))")
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
    assert PARSERS[name](shlex.split(args)), page


def test_the_commands_of_ours_were_found() -> None:
    assert {name for _, name, _ in MADE} == set(PARSERS)
