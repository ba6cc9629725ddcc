"""What no test runs is read: the shell by a shell with stand-ins for the programs, calls by what describes them."""

import ast
import importlib
import json
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cfn import deployed
from tests.client.cli.conftest import Cli, delayer, environment
from tests.client.cli.test_help import understood
from tests.docs.blocks.aws_calls import wrong_in
from tests.docs.blocks.elsewhere import runner_of
from tests.docs.blocks.fences import SHELL, Fence, all_fences
from tests.docs.blocks.own_calls import wrong_in_make, wrong_in_sam
from tests.docs.blocks.recording import recorded
from tests.running.of_each import of_each

__all__ = ["delayer", "environment"]  # fixtures of the command line

READ = [fence for fence in all_fences() if fence.marker and fence.marker != "refused" and not runner_of(fence)]
SHELLS = [fence for fence in READ if fence.language in SHELL]
PYTHON = [fence for fence in READ if fence.language == "python"]
PLACEHOLDER = re.compile(r"<[A-Za-z]+>|…")


@pytest.mark.parametrize("fence", SHELLS, ids=lambda fence: fence.id)
def test_a_shell_block_calls_what_there_is(fence: Fence, tmp_path: Path, delayer: Cli) -> None:
    done = recorded(PLACEHOLDER.sub("placeholder-of-some-length", fence.text), tmp_path)
    assert not done.error, f"{fence.place}: {done.error}"
    assert done.calls, fence.place
    wrong: dict[str, Callable[[list[str]], Iterator[str] | list[str]]] = {
        "aws": wrong_in,
        "make": wrong_in_make,
        "sam": wrong_in_sam,
        "delayer": lambda call: understood(call[1:], delayer),
    }
    found = [one for call in done.calls if call[0] in wrong for one in wrong[call[0]](call)]
    assert found == [], fence.place


@of_each(SHELLS)
def test_what_it_asks_the_stack_for_is_there(fence: Fence) -> None:
    """Outputs, and types of resources."""
    stack = deployed()
    kinds = {resource["Type"] for resource in stack["Resources"].values()}
    asked = {*re.findall(r"OutputKey=='(\w+)'", fence.text), *re.findall(r"\boutput (\w+)", fence.text)}
    assert asked <= {*stack["Outputs"], "text"}
    assert set(re.findall(r"\bresources (AWS::\w+::\w+)", fence.text)) <= kinds


def is_module(name: str) -> bool:
    """Also if nobody has imported it yet. find_spec raises where the package around it is no package."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@of_each(PYTHON)
def test_a_python_block_imports_what_there_is(fence: Fence) -> None:
    for node in ast.walk(ast.parse(fence.text)):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module or "")
            own = [one.name for one in node.names if not hasattr(module, one.name)]
            assert [name for name in own if not is_module(f"{node.module}.{name}")] == [], fence.place
        elif isinstance(node, ast.Import):
            for one in node.names:
                importlib.import_module(one.name)


def test_a_call_that_is_wrong_is_found() -> None:
    """All of these would be refused by AWS's CLI, or by a function."""
    invoke = ["aws", "lambda", "invoke", "--function-name", "delayer-operator-id-key", "answer.json", "--payload"]
    for call in (
        ["aws", "dynamo", "list-tables"],
        ["aws", "dynamodb", "list-table"],
        ["aws", "dynamodb", "delete-table"],
        ["aws", "dynamodb", "delete-table", "--table", "x"],
        ["aws", "dynamodb", "wait", "table-exist", "--table-name", "x"],
        ["aws", "iam", "put-role-policy", "--role-name", "x", "--policy-name", "y", "caller.json"],
        [*invoke, json.dumps({"command": "turn"})],
        [*invoke, json.dumps({"command": "rotate", "at": "noon"})],
    ):
        assert wrong_in(call), call
    assert wrong_in([*invoke, json.dumps({"command": "rotate"})]) == []
    assert list(wrong_in_make(["make", "deployed"]))
    assert list(wrong_in_make(["make", "restore", "ARGS=--no-such"]))
    assert list(wrong_in_make(["make", "restore", "TABLE=x"]))
    assert list(wrong_in_sam(["sam", "delete", "--stack", "x"]))
