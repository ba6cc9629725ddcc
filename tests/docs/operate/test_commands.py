"""What the pages of operators tell to type exists: commands of AWS with their options, and payloads of functions."""

import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from botocore import xform_name
from botocore.session import get_session
from botocore.validate import ParamValidator

from operate import dead_letters
from operate.restore import options as restore_options
from operate.verify import options as verify_options
from tests.cfn import ROOT

PAGES = sorted((ROOT / "docs/operate").glob("*.md"))
OF_THE_CLI = {"cli-binary-format", "cli-read-timeout", "query", "output", "region", "endpoint-url"}
SESSION = get_session()


def commands(text: str) -> Iterator[list[str]]:
    """Each command of the AWS CLI in the blocks of a page, with its words; those inside another one, too."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        joined = block.replace("\\\n", " ")
        inside = re.findall(r"\$\((aws .*?)\)\"", joined, re.DOTALL)
        outside = re.sub(r"\"\$\(aws .*?\)\"", "x", joined, flags=re.DOTALL)
        for one in (*inside, *re.findall(r"^aws (?:'[^']*'|[^\n'])*", outside, re.MULTILINE)):
            yield shlex.split(one)


COMMANDS = [(page.name, words) for page in PAGES for words in commands(page.read_text())]


def operation(words: list[str]) -> Any:
    """botocore's description of a call."""
    model = SESSION.get_service_model(words[1])
    names = {xform_name(name, "-"): name for name in model.operation_names}
    return model.operation_model(names[words[2]])


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=lambda value: " ".join(value[1:3]) if value else "")
def test_a_command_of_aws_has_these_options(page: str, words: list[str]) -> None:
    given = {word.removeprefix("--").split("=")[0] for word in words if word.startswith("--")} - OF_THE_CLI
    if words[2] == "wait":
        assert xform_name(words[3]).replace("-", "_") in waiters(words[1])
        return
    allowed = {xform_name(name, "-") for name in operation(words).input_shape.members}
    assert given <= allowed, (page, words)


def waiters(service: str) -> set[str]:
    model: dict[str, Any] = SESSION.get_waiter_model(service).__dict__
    return {xform_name(name) for name in model["_waiter_config"]}


def test_the_documents_in_them_are_what_aws_wants() -> None:
    checked = 0
    for _, words in COMMANDS:
        shape = None if words[2] == "wait" else operation(words).input_shape
        for option, value in pairwise(words):
            if shape and option.startswith("--") and value.startswith("{") and words[1] != "lambda":
                name = next((one for one in shape.members if f"--{xform_name(one, '-')}" == option), None)
                if name and shape.members[name].type_name == "structure":
                    report = ParamValidator().validate(json.loads(value), shape.members[name])
                    assert not report.has_errors(), report.generate_report()
                    checked += 1
    assert checked >= 2


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


@pytest.mark.parametrize(("page", "name", "args"), MADE)
def test_a_command_of_ours_takes_these_arguments(page: str, name: str, args: str) -> None:
    assert PARSERS[name](shlex.split(args)), page


def test_the_commands_of_ours_were_found() -> None:
    assert {name for _, name, _ in MADE} == set(PARSERS)
