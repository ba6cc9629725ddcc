"""Every command says what it does, and gives an example that can be typed."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from delayer_client.cli.app import app
from delayer_client.cli.fields.types import ByType
from docs.hooks.reference.surfaces.commands import is_shared
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


OF_FUNCTIONS = {"dead-letters", "flow", "policy"}
OF_ONE_MACHINE = {"serve", "token", "renew-keys", "new-action"}


def taken(path: tuple[str, ...], name: str) -> bool:
    """Whether it is any use there; `--owner` of commands about an owner's schedules is not who calls."""
    if path[0] in OF_ONE_MACHINE:
        return False
    if path[0] in OF_FUNCTIONS:
        return name in ("stack", "by-name")
    if path[0] in ("verify", "import", "doctor", "configure", "console"):
        return {"owner": path[0] != "verify", "stack": path[0] != "import"}.get(name, name == "token")
    return name in ("owner", "token")


@of_each(ALL, unpacked=True)
def test_the_help_shows_the_shared_flags_that_count(path: tuple[str, ...], command: Any) -> None:
    """All others are refused: without the owner that was typed, a command would be about everybody."""
    shown = {one.opts[0] for one in command.params if is_shared(one) and not one.hidden}
    for name in ("owner", "token", "stack", "by-name"):
        assert (f"--{name}" in shown) == taken(path, name)


@pytest.mark.parametrize(
    "words",
    [
        ("--owner", "ann", "dead-letters", "discard", "--all", "--yes"),
        ("dead-letters", "--owner", "ann", "discard", "--all", "--yes"),
        ("--owner", "ann", "policy", "remove", "--yes"),
        ("--token", "t", "policy", "list"),
        ("--by-name", "list"),
        ("list", "--by-name"),
        ("--stack", "other", "list"),
        ("series", "--stack", "other", "list"),
        ("--stack", "other", "schedule", "http", HOOK, "--in", "1h"),
        ("schedule", "http", HOOK, "--in", "1h", "--stack", "other"),
        ("--owner", "ann", "verify", "--yes"),
        ("import", "eventbridge", "--stack", "other", "--dry-run"),
        ("--data", "folder", "list"),
        ("verify", "--data", "folder", "--yes"),
        ("--owner", "ann", "serve"),
        ("--stack", "", "list"),
        ("dead-letters", "--owner", "", "discard", "--all", "--yes"),
        ("dead-letters", "--yes", "list"),
        ("policy", "--revision", "3", "list"),
    ],
    ids=" ".join,
)
def test_what_is_refused_is_named_and_nothing_is_done(words: tuple[str, ...], delayer: Cli) -> None:
    """Wherever it stands."""
    calls: list[object] = []
    done = delayer.with_operators(calls.append)(*words)
    assert done.status == 2
    assert re.search(
        r"does not take --[a-z-]+: leave it out|`--owner` before `\w+` means who calls\. .* behind", done.err
    )
    assert calls == []
    assert delayer("list", "--json").objects == []


def texts(command: Any) -> Iterator[list[str]]:
    """Words that give each argument or flag that takes a text an empty one, and what is required a text."""
    for one in command.params:
        if one.type_descriptor.annotation not in (str, list[str]) or one.hidden:
            continue
        words = []
        for other in command.params:
            if other is one or other.required:
                word = "" if other is one else "0" if other.type_descriptor.annotation is int else "x"
                words += [word] if other.param_type_name == "argument" else [other.opts[0], word]
        yield words


TYPED = [one for one in ALL if not isinstance(one[1], ByType)]  # those of types are below


@pytest.mark.parametrize(("path", "command"), TYPED, ids=[" ".join(path) for path, _ in TYPED])
def test_an_empty_text_is_never_taken_for_none(path: tuple[str, ...], command: Any, delayer: Cli) -> None:
    """An owner that a variable of the shell does not hold would be everybody. Some commands have thirty flags."""
    calls: list[object] = []
    ask = delayer.with_operators(calls.append)
    tried = list(texts(command))
    for words in tried:
        done = ask(*path, *words)
        assert (done.status, done.out) == (2, ""), words
        assert re.search(r"^(`--[a-z-]+`|[A-Z]+) is empty: give it a value.*\.\n$", done.err), (words, done.err)
    assert tried, "at least --profile"
    assert calls == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--owner", "", "list"), "`--owner` is empty: give it a value, or leave it out."),
        (("series", "--token", "", "list"), "`--token` is empty: give it a value, or leave it out."),
        (("cancel", "x", ""), "ID is empty: give it a value, or leave it out."),
        (("replace", "", "http", HOOK, "--in", "1h"), "NAME is empty: give it a value."),
        (("replace", "x", "http", HOOK, "--in", "1h", "--group", ""), "`--group` is empty"),
        (
            ("schedule", "http", HOOK, "--in", "1h", "--name", ""),
            "`--name` is empty: give it a value, or leave it out.",
        ),
        (("schedule", "http", HOOK, "--in", "1h", "--tag", ""), "`--tag` is empty: give it a value, or leave it out."),
        (("schedule", "http", HOOK, "--in", "1h", "--on-late", ""), "`--on-late` is empty"),
        (("schedule", "http", HOOK, "--in", "1h", "--api-url", ""), "`--api-url` is empty"),
        (
            ("series", "create", "1h", "http", HOOK, "--from", ""),
            "`--from` is empty: give it a value, or leave it out.",
        ),
        (("import", "eventbridge", "", "--dry-run"), "FILE is empty: give it a value, or leave it out."),
    ],
    ids=str,
)
def test_an_empty_text_is_named(words: tuple[str, ...], said: str, delayer: Cli) -> None:
    done = delayer(*words)
    assert done.status == 2
    assert said in done.err
    assert delayer("list", "--json").objects == []


def test_what_an_action_says_may_be_empty(delayer: Cli) -> None:
    """It is sent as it was typed: whether it may be is for the stack to say."""
    topic = "arn:aws:sns:eu-west-1:123456789012:orders"
    done = delayer("schedule", "sns", topic, "--subject", "", "--in", "1h")
    assert "is empty" not in done.err
    assert done.status != 2 or "subject" in done.err


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (("list",), "At most so many; otherwise 50, with --json all."),
        (("series", "occurrences"), "At most so many; otherwise 50, with --json all."),
        (("dead-letters", "list"), "At most so many; otherwise 50 at a terminal, all into a pipe or with --json."),
    ],
    ids=str,
)
def test_the_help_says_how_many_are_listed(path: tuple[str, ...], said: str, delayer: Cli) -> None:
    assert said in " ".join(delayer(*path, "--help").out.replace("│", " ").split())


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
