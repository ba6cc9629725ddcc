"""The page of the command line: its tables are those of the code, and what it shows is understood."""

import re
import shlex

import pytest

from delayer_client.cli.exits import MEANING
from delayer_client.cli.profiles import VARIABLES
from tests.cfn import ROOT
from tests.client.cli.conftest import Cli
from tests.client.cli.test_help import understood

PAGE = (ROOT / "docs/use/command-line.md").read_text()
LINES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("delayer ")
]


def rows(section: str) -> list[list[str]]:
    """Of the first table below a heading or a sentence."""
    table = PAGE.split(section, 1)[1].split("|---", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]


def test_its_table_has_every_exit_status() -> None:
    assert rows("The exit status is stable:") == [[str(int(one)), meaning] for one, meaning in MEANING.items()]


def test_its_table_has_every_variable() -> None:
    named = {re.findall(r"`--([a-z]+)`", row[0])[0]: row[1].strip("`") for row in rows("## Where the stack is")}
    assert named == VARIABLES


@pytest.mark.parametrize("line", LINES)
def test_what_it_shows_is_understood(line: str, delayer: Cli) -> None:
    args = shlex.split(line.partition(" | ")[0], comments=True)[1:]
    if "--help" in args:
        assert delayer(*args).status == 0
    else:
        assert understood(args, delayer) == []


OPERATED = [
    (page.name, line)
    for page in sorted((ROOT / "docs/operate").glob("*.md"))
    for line in re.findall(r"`\.venv/bin/delayer ([^`…]+)`", page.read_text())
]


@pytest.mark.parametrize(("page", "line"), OPERATED)
def test_a_command_of_operators_finds_the_stack_that_make_finds(page: str, line: str, delayer: Cli) -> None:
    """Without a URL and without --by-name it would look for a `make local-aws`."""
    args = shlex.split(line)
    assert understood(args, delayer) == []
    assert {"--by-name", "--url"} & set(args), page
