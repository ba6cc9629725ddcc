"""`make dead-letters`, `make flow`, `make owner-policy` and `make verify`: what they pass on to the command line."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from delayer_client.cli.profiles import Settings
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.session import Session
from delayer_client.operator import OperatorStack
from tests.cfn import ROOT
from tests.client.cli.conftest import Cli
from tests.client.cli.test_help import understood

URL = "https://abc.execute-api.eu-west-1.amazonaws.com"
# As they were before the command line took their place, and as the pages have them now.
CALLS = [
    ("dead-letters", "list --prefix failed/"),
    ("dead-letters", "--stack mine redrive --reason 'HTTP 503' --from 2026-11-21T09:00:00Z --dry-run"),
    ("dead-letters", "discard --owner o --group g --action sqs-send --until 2026-11-21T09:00:00Z --per-second 50"),
    ("dead-letters", "redrive --all --after failed/k"),
    ("dead-letters", "show failed/k"),
    ("flow", "--stack mine list"),
    ("flow", "suspend --owner o --target api.example.com --reason 'until noon' --by eve"),
    ("flow", "release --owner o --target api.example.com --by eve"),
    ("flow", "limit --owner o --connection crm --rate 100/h --concurrency 5 --by eve"),
    ("flow", "unlimit --owner o --connection crm --by eve"),
    ("flow", "close --target api.example.com --by eve"),
    ("flow", "discard 'limit#1' --by eve"),
    ("owner-policy", 'set --owner o --json \'{"hosts": ["*.example.com"]}\' --revision 3 --by eve'),
    ("owner-policy", "set --file policy.json"),
    ("owner-policy", "show --owner o"),
    ("owner-policy", "try --owner o body.json --json '{}'"),
    ("owner-policy", "remove --owner o --revision 3 --by eve"),
    ("owner-policy", "--stack mine list"),
    ("verify", "--skip far --skip canary --bulk 20 --allowed-ms 8000"),
    ("verify", "--only races --canary-seconds 10"),
]


def passed_on(target: str, *given: str) -> list[str]:
    """The words behind `delayer`, as the shell of make reads them."""
    make = shutil.which("make")
    assert make
    words = [make, "--dry-run", "--silent", "--old-file=.venv/installed-local", target, *given]
    recipe = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    read = shlex.split(recipe.replace("\\\n", " "))
    return read[read.index("delayer_client.cli") + 1 :]


def test_no_argument_of_a_process_has_the_token(tmp_path: Path) -> None:
    """Every user of the machine can read those. What stands for Python shows its arguments and its variables."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\ntr "\\0" " " < /proc/$$/cmdline; env | grep ^DELAYER_\n')
    shown = tmp_path / "env"
    shown.write_text(f'#!/bin/sh\necho "env $*" >> {tmp_path}/arguments; exec /usr/bin/env "$@"\n')
    for program in (python, shown):
        program.chmod(0o755)
    make = shutil.which("make")
    assert make
    words = [make, "--silent", "--old-file=.venv/installed-local", "verify", f"BIN={python.parent}", f"URL={URL}"]
    of_the_shell = {
        "DELAYER_URL": "http://of-the-shell",
        "DELAYER_TOKEN": "of the shell",
        "DELAYER_OWNER": "of the shell",
        "TOKEN": "a.b.c",
    }
    variables = {**os.environ, **of_the_shell, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, env=variables).stdout
    passed = "".join(path.read_text() for path in tmp_path.glob("arguments"))
    assert "verify" in ran
    assert "DELAYER_TOKEN=a.b.c" in ran
    assert "shell" not in ran
    assert "a.b.c" not in passed + ran.replace("DELAYER_TOKEN=a.b.c", "")


@pytest.mark.parametrize(("target", "args"), CALLS)
def test_what_it_took_is_understood(target: str, args: str, delayer: Cli) -> None:
    words = passed_on(target, f"ARGS={args}")
    assert words[-len(shlex.split(args)) :] == shlex.split(args)
    assert understood(words, delayer) == []


@pytest.mark.parametrize(("target", "args"), CALLS)
def test_nothing_that_make_adds_is_refused(target: str, args: str, delayer: Cli) -> None:
    """What no command takes is not passed to it: it would be refused. Nobody is asked for a stack here."""
    if target == "verify":
        args += " --help"
    done = delayer.with_operators(lambda _: None)(*passed_on(target, f"ARGS={args}"))
    assert "does not take" not in done.err


@pytest.mark.parametrize("target", ["dead-letters", "flow", "owner-policy"])
def test_the_stack_is_found_by_its_name(target: str) -> None:
    """In the account of the AWS settings, as ever: neither DELAYER_URL nor a profile of `delayer configure` counts."""
    assert passed_on(target, "ARGS=list")[1:4] == ["--by-name", "--stack", "delayer"]
    assert passed_on(target, "ARGS=list", "STACK=mine")[1:4] == ["--by-name", "--stack", "mine"]


def test_nobody_is_asked_by_make_about_what_was_named() -> None:
    assert "--yes" in passed_on("dead-letters", "ARGS=redrive --all")
    assert passed_on("owner-policy", "ARGS=set --file p.json")[4:6] == ["--revision", "0"]
    assert passed_on("owner-policy", "ARGS=remove --owner o")[4:6] == ["--revision", "0"]
    assert passed_on("verify", f"URL={URL}", "STACK=mine") == ["verify", "--stack", "mine", "--url", URL, "--yes"]
    assert "--yes" in passed_on("verify", f"ARGS=--url {URL}")
    assert "--yes" not in passed_on("verify"), "of no URL it is asked whether it is that of a `make local-aws`"


def test_by_its_name_no_url_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    settings = {
        "DELAYER_URL": URL,
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    found = Session(flags=Settings(stack="mine"), by_name=True).operators
    assert isinstance(found, OperatorStack)
    assert (found.name, found.url, found.aws.endpoint_url) == ("mine", "", "http://127.0.0.1:9")
    with pytest.raises(NotRead, match="give --url or --by-name, not both"):
        Session(flags=Settings(url=URL), by_name=True).operators  # noqa: B018 - it is asked for, to be refused
