"""Every command says what it does, and gives an example that can be typed."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from delayer_client.cli.app import app
from delayer_client.cli.fields.types import ByType
from tests.client.cli.conftest import HOOK, Cli
from tests.running.of_each import of_each

ROOT = typer.main.get_command(app)


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All, those of groups too; not what is made from the types of a stack."""
    if isinstance(command, ByType) or not hasattr(command, "commands"):
        yield path, command
        return
    for name, one in command.commands.items():
        yield from commands(one, *path, name)


ALL = list(commands(ROOT))


def examples(command: Any) -> list[list[str]]:
    """As they would be typed, without `delayer` and what is behind a pipe."""
    plain = command.epilog.replace("\\[", "[").partition("[/bold]")[2].split("\n\n")
    return [shlex.split(line.strip().partition(" | ")[0])[1:] for line in plain if line.strip()]


@of_each(ALL, unpacked=True)
def test_each_has_a_help_text_and_an_example_that_is_its_own(path: tuple[str, ...], command: Any) -> None:
    assert len(command.help) > 10
    assert examples(command)
    for example in examples(command):
        assert tuple(example[: len(path)]) == path


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_each_example_is_understood(path: tuple[str, ...], command: Any, delayer: Cli) -> None:
    for example in examples(command):
        assert understood(example, delayer) == []


def understood(args: list[str], delayer: Cli) -> list[str]:
    """What is left over, without carrying it out. Raises typer's exceptions."""
    context = ROOT.make_context("delayer", list(args), obj=delayer.surroundings)
    current: Any = ROOT
    rest = [*context._protected_args, *context.args]
    while hasattr(current, "resolve_command"):
        name, current, rest = current.resolve_command(context, rest)
        context = current.make_context(name, rest, parent=context)
        rest = [*getattr(context, "_protected_args", ()), *context.args]
    return rest


@pytest.mark.parametrize("path", [*(path for path, _ in ALL), ()], ids=" ".join)
def test_help_fits_a_window_of_80_columns(path: tuple[str, ...], delayer: Cli) -> None:
    done = delayer(*path, "--help")
    assert done.status == 0
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_help_of_a_type_shows_its_fields(delayer: Cli) -> None:
    shown = delayer("schedule", "http", "--help")
    assert shown.status == 0
    for flag in ("--url", "--header", "--timeout-seconds", "--keep-answer", "--in", "--wait", "--idempotency-key"):
        assert flag in shown.out
    assert "How long the target may take to answer" in " ".join(re.sub(r"[│╭╮╰╯─]", " ", shown.out).split())
    assert "--queue-url" in delayer("schedule", "sqs", "--help").out
    assert "--overlap" in delayer("series", "create", "1h", "http", "--help").out


def test_the_help_of_schedule_lists_the_types_of_the_stack(delayer: Cli) -> None:
    shown = delayer("schedule", "--help").out
    for kind in ("event-put", "http-request", "lambda-invoke", "sns-publish", "sqs-send", "step-start"):
        assert kind in shown


def test_the_version(delayer: Cli) -> None:
    assert re.fullmatch(r"delayer \d+\.\d+\.\d+\S*\n", delayer("--version").out)


def test_a_word_that_is_no_command_is_refused(delayer: Cli) -> None:
    done = delayer("shedule", "http", HOOK)
    assert done.status == 2
    assert "schedule" in done.err


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("delayer sched", "schedule"),
        ("delayer series pre", "preview"),
        ("delayer list --state fa", "failed"),
        ("delayer connections put x --type be", "bearer"),
    ],
)
def test_completion(words: str, proposed: str, delayer: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_DELAYER_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert proposed in delayer().out.split()


def test_a_flag_of_a_type_that_the_command_has_already_is_called_otherwise() -> None:
    from delayer_client.cli.fields.schema import fields

    schema = {"required": ["type", "channel"], "properties": {"type": {}, "name": {"type": "string"}, "channel": {}}}
    assert [one.flags for one in fields(schema, frozenset({"--name"}))] == [("--channel",), ("--action-name",)]
