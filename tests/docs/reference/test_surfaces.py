"""Commands, make targets and pages of the console: each has a section that says something."""

import re

import pytest
from starlette.routing import Route

from delayer_client.console.application import ROUTES
from docs.hooks.reference import pages
from docs.hooks.reference.surfaces import commands, console, makefile
from tests.cfn import ROOT
from tests.client.cli.test_help import ALL
from tests.running.of_each import of_each


def page(path: str) -> str:
    return pages.filled((ROOT / "docs" / path).read_text(), path)


PATHS = ["delayer " + " ".join(path) for path, _ in ALL]


def test_every_command_is_described() -> None:
    assert sorted(re.findall(r"^### `(.+)`$", page("reference/commands.md"), re.MULTILINE)) == sorted(PATHS)


@of_each(PATHS)
def test_a_command_has_its_help_and_all_its_flags(path: str) -> None:
    command = commands.commands_by_path()[path]
    text = commands.section(path, command)
    assert len(commands.paragraphs(command.help)) > 10
    assert f"\n```text\n{path}" in text
    shown = [one for one in command.params if not commands.is_shared(one) and not getattr(one, "hidden", False)]
    for one in shown:
        name = one.metavar if one.param_type_name == "argument" else one.opts[0]
        assert f"`{name}`" in text
    assert f"```sh\n{path} " in text or f"```sh\n{path}\n" in text


def test_a_default_that_is_found_out_is_not_shown_as_code() -> None:
    assert "<function" not in page("reference/commands.md")


def test_the_introduction_of_the_command_line_names_each_command() -> None:
    named = re.findall(r"\(\.\./reference/commands\.md#(delayer-[a-z-]+)\)", page("use/command-line.md"))
    assert sorted(named) == sorted(path.replace(" ", "-") for path in PATHS)


def test_flags_of_all_commands_are_listed_once() -> None:
    text = page("reference/commands.md")
    for flag in ("--json", "--url", "--profile", "--owner", "--token", "--zone", "--stack", "--aws-profile"):
        assert len(re.findall(rf"^\| `{flag}`", text, re.MULTILINE)) == 1, flag


def test_every_target_is_described_as_make_help_does() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert re.findall(r"^### `make ([a-z-]+)`", page("reference/make.md"), re.MULTILINE) == targets


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("local", ["PORT", "ARGS"]),
        ("local-aws", ["PORT", "DELAYER_PERIOD", "PARAMETERS", "ARGS"]),
        ("deploy", ["PARAMETERS", "TAGS", "STACK"]),
        ("rm-policy", ["NAME", "FORCE"]),
        ("new-policy", ["NAME"]),
        ("move-queues", ["FROM", "TO", "ARGS"]),
        ("clean", []),
    ],
)
def test_variables_are_those_of_the_recipe(target: str, names: list[str]) -> None:
    assert makefile.variables(target) == names


def test_every_route_of_the_console_is_described() -> None:
    headings = re.findall(r"^### `(GET|POST) (.+)`$", page("reference/console.md"), re.MULTILINE)
    routed = {(console.method(one), one.path) for one in ROUTES if not console.is_again(one)}
    assert len(headings) == len(set(headings))
    assert set(headings) == routed


@of_each(ROUTES)
def test_a_route_says_what_it_shows_or_does(found: Route) -> None:
    assert len(console.said(found.endpoint)) > 30
    choices = console.CHOICES.get(found.path, {})
    assert [name for name, function in choices.items() if len(console.said(function)) < 20] == []
    assert bool(choices) == found.path.endswith("{what}")
