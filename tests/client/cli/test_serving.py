"""`delayer serve` and `delayer token`: how they are asked for, and what is said when it cannot be."""

import errno
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from delayer.engines.sqlite.database import Database
from delayer.serve import service
from delayer.serve.data import folder
from delayer.serve.data.folder import open_folder
from delayer.serve.door.address import Listening
from delayer.serve.door.tokens import tokens_in
from delayer.serve.refusal import Refusal
from delayer.serve.service import Options
from delayer.serve.turns.machine import LAYOUT
from tests.cfn import ROOT
from tests.client.cli.conftest import Cli


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """What an engine that is not begun was asked for."""
    found: list[Options] = []
    monkeypatch.setattr(service, "serve", found.append)
    return found


def test_without_flags_it_serves_this_folder_on_8080(delayer: Cli, asked: list[Options]) -> None:
    assert delayer("serve").status == 0
    [options] = asked
    assert (options.data, options.attempts, options.journal_days) == (Path("delayer-data"), 64, 90)
    assert (options.listening.host, options.listening.port, options.listening.tokens) == ("127.0.0.1", 8080, None)


def test_each_flag_comes_to_the_engine(delayer: Cli, asked: list[Options], tmp_path: Path) -> None:
    words = ("--host", "0.0.0.0", "--port", "9000", "--tokens", "t", "--tls-cert", "c", "--tls-key", "k")
    more = ("--behind-proxy", "--private-targets", "10.0.0.0/8,fd00::/8", "--attempts", "7", "--journal-days", "3")
    own = ("--actions", str(tmp_path), "--actions", ".", "--events", "https://example.com/events", "--data", "d")
    done = delayer("serve", *words, *more, *own)
    assert (done.status, done.err) == (0, "")
    [options] = asked
    assert (options.data, options.attempts, options.journal_days) == (Path("d"), 7, 3)
    assert options.actions == (tmp_path, Path())
    assert options.events == "https://example.com/events"
    where = options.listening
    assert (where.tokens, where.certificate, where.key) == (Path("t"), Path("c"), Path("k"))
    assert (where.behind_proxy, where.private_targets) == (True, "10.0.0.0/8,fd00::/8")


def test_the_folder_may_be_said_before_and_by_the_environment(
    delayer: Cli, asked: list[Options], monkeypatch: pytest.MonkeyPatch
) -> None:
    delayer("--data", "a", "serve")
    monkeypatch.setenv("DELAYER_DATA", "b")
    delayer("serve")
    delayer("serve", "--data", "c")
    assert [str(one.data) for one in asked] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--port", "65536"), "--port"),
        (("--attempts", "0"), "--attempts"),
        (("--journal-days", "0"), "--journal-days"),
        (("--tokens", ""), "`--tokens` is empty"),
        (("--actions", "no-such-folder"), "--actions: there is no folder no-such-folder."),
        (("--events", "example.com"), "--events: give a URL"),
        (("--colour", "red"), "No such option: --colour"),
        (("--stack", "x"), "does not take --stack"),
    ],
    ids=str,
)
def test_wrong_use_is_named_and_nothing_begins(
    words: tuple[str, ...], said: str, delayer: Cli, asked: list[Options]
) -> None:
    done = delayer("serve", *words)
    assert (done.status, asked) == (2, [])
    assert said in done.err


@pytest.mark.parametrize("status", [1, 2])
def test_a_refusal_is_its_sentence_and_its_status(status: int, delayer: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_options: Options) -> None:
        raise Refusal(what="It cannot be", where="here", do="Do that", status=status)

    monkeypatch.setattr(service, "serve", refuse)
    done = delayer("serve")
    assert (done.status, done.out, done.err) == (status, "", "It cannot be (here). Do that.\n")


def test_a_defect_is_shown_whole_and_may_be_over_when_it_is_started_again(
    delayer: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(_options: Options) -> None:
        raise ZeroDivisionError("x")

    monkeypatch.setattr(service, "serve", break_down)
    done = delayer("serve")
    assert done.status == 1
    assert "Traceback" in done.err
    assert done.err.endswith("The engine has ended by a defect of its own: ZeroDivisionError('x'). Start it again.\n")


def test_a_variable_that_is_no_setting_is_named(
    delayer: Cli, asked: list[Options], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulator has such ones."""
    monkeypatch.setenv("DELAYER_PERIOD", "1")
    monkeypatch.setenv("DELAYER_SECRETS_KEY", "x")
    monkeypatch.setenv("DELAYER_URL", "http://localhost:1")
    done = delayer("serve")
    assert done.status == 0
    assert done.err.splitlines() == ["DELAYER_PERIOD is no setting of `delayer serve`: its settings are its flags."]
    assert len(asked) == 1


# ------------------------------------------------------------ what really cannot be


@pytest.fixture
def port() -> Iterator[int]:
    """In use."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def refused(delayer: Cli, *words: str) -> tuple[int, str]:
    done = delayer("serve", *words)
    assert done.out == ""
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 1
    return done.status, done.err


def test_a_port_in_use_may_be_free_later(delayer: Cli, port: int, tmp_path: Path) -> None:
    status, said = refused(delayer, "--port", str(port), "--data", str(tmp_path / "d"))
    assert status == 1
    assert f"Port {port} of 127.0.0.1 is in use" in said
    assert not (tmp_path / "d").exists()


def test_what_is_no_database_is_left_as_it_is(delayer: Cli, tmp_path: Path) -> None:
    (tmp_path / "delayer.db").write_text("something else" * 100)
    status, said = refused(delayer, "--port", "0", "--data", str(tmp_path))
    assert (status, "is no database of SQLite" in said) == (2, True)
    assert (tmp_path / "delayer.db").read_text() == "something else" * 100
    assert not (tmp_path / "reserve").exists()


def test_others_may_not_call_without_tokens(delayer: Cli, tmp_path: Path) -> None:
    status, said = refused(delayer, "--host", "0.0.0.0", "--port", "0", "--data", str(tmp_path))
    assert (status, "there are no tokens" in said) == (2, True)


def test_a_file_in_the_place_of_the_folder(delayer: Cli, tmp_path: Path) -> None:
    (tmp_path / "d").touch()
    status, said = refused(delayer, "--port", "0", "--data", str(tmp_path / "d"))
    assert (status, "is not a folder" in said) == (2, True)


def test_others_may_not_read_the_file_of_tokens(delayer: Cli, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.touch(mode=0o644)
    status, said = refused(delayer, "--tokens", str(file), "--port", "0", "--data", str(tmp_path / "d"))
    assert status == 2
    assert said == (
        f"The file of --tokens is open to other users of this machine (its mode is 0644) ({file}). "
        f"Run: chmod 600 {file}.\n"
    )
    assert not (tmp_path / "d").exists()


def test_a_network_filesystem_is_none(delayer: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "open_folder", partial(open_folder, kind_of=lambda _descriptor, _path: "nfs4"))
    status, said = refused(delayer, "--port", "0", "--data", str(tmp_path))
    assert (status, "on a network filesystem of the type nfs4" in said) == (2, True)
    assert said.endswith("Choose a folder on a disk of this machine.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written(
    delayer: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(_path: Path, _text: str) -> None:
        raise OSError(number, "whatever the system says")

    monkeypatch.setattr(folder, "write_durably", refuse)
    status, said = refused(delayer, "--port", "0", "--data", str(tmp_path))
    assert (status, f"The data folder cannot be written ({tmp_path}). Give it to" in said) == (2, True)


def test_an_action_that_cannot_be_loaded(delayer: Cli, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/app.py").write_text("import no_such_thing")
    status, said = refused(delayer, "--actions", str(tmp_path), "--port", "0", "--data", str(tmp_path / "d"))
    assert (status, "broken cannot be loaded: ModuleNotFoundError" in said) == (2, True)


def test_a_disk_without_room_for_a_database_may_have_it_later(
    delayer: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **_more: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(service, "opened", full)
    monkeypatch.setattr(folder.DataFolder, "free", lambda _: 1_000_000)
    status, said = refused(delayer, "--port", "0", "--data", str(tmp_path))
    assert (status, "There is no room on the disk for the database, with 1 MB free" in said) == (1, True)


def test_with_too_little_disk_it_begins_restricted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a second: a real engine, which is ended as soon as it has begun."""
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(folder.DataFolder, "free", lambda _: 50_000_000)
    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        service.serve(Options(data=tmp_path, listening=Listening(port=0), say=say), {})
    finally:
        for one, handler in handlers.items():
            signal.signal(one, handler)
    assert said[0].splitlines()[1] == (
        "It is restricted, because only 50 MB are free on its disk: nothing new is accepted below 100 MB. "
        "Make room on this disk; it goes on by itself then."
    )


def test_python_that_is_too_old_is_one_sentence(tmp_path: Path) -> None:
    """The interpreter says that it is one: those of before are not everywhere. It takes a second: a process begins."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.version_info = (3, 10, 13, 'final', 0)\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "client"), str(ROOT / "shared")])
    command = [sys.executable, "-m", "delayer_client.cli", "serve", "--data", str(tmp_path / "d")]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("Delayer needs Python 3.11 or newer; ")


# ------------------------------------------------------------ keys


def test_keys_are_renewed_and_none_is_shown(delayer: Cli, tmp_path: Path) -> None:
    Database(path=str(tmp_path / "delayer.db"), layout=LAYOUT).close()
    first = delayer("renew-keys", "--data", str(tmp_path))
    assert first.status == 0
    assert "encrypts the signing keys and the values of 0 connections from now on" in first.out
    second = delayer("renew-keys", "--data", str(tmp_path), "--json")
    [shown] = second.objects
    assert (shown["values"], len(shown["former"]), second.err) == (0, 2, "")
    for key in (tmp_path / "secrets.key").read_text().split():
        assert key not in first.out + first.err + second.out


def test_where_no_engine_was_no_key_is_made(delayer: Cli, tmp_path: Path) -> None:
    done = delayer("renew-keys", "--data", str(tmp_path))
    assert (done.status, done.out, list(tmp_path.iterdir())) == (2, "", [])
    assert (
        done.err
        == f"There is no database of an engine in the folder ({tmp_path}). Name the folder of an engine with --data.\n"
    )


# ------------------------------------------------------------ tokens


def test_a_token_is_shown_once_and_only_its_hash_is_kept(delayer: Cli, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    done = delayer("token", "team-blue", "--file", str(file))
    assert (done.status, "shown only now" in done.err) == (0, True)
    token = done.out.strip()
    claims: Any = tokens_in(file).claims_of(f"Bearer {token}")
    assert (claims["owner"], claims["scope"]) == ("team-blue", "read write")
    assert token not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_its_scopes_are_those_that_were_named(delayer: Cli, tmp_path: Path) -> None:
    words = ("token", "eve", "--file", str(tmp_path / "tokens"), "--scope", "operator", "--scope", "read", "--json")
    done = delayer(*words)
    [made] = done.objects
    assert (made["owner"], made["scopes"], done.err) == ("eve", ["operator", "read"], "")
    assert json.loads((tmp_path / "tokens").read_text())["scopes"] == ["operator", "read"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("eve",), "--file"),
        (("eve", "--file", ""), "`--file` is empty"),
        (("", "--file", "f"), "OWNER is empty"),
        (("eve", "--file", "f", "--scope", "all"), "all"),
        (("e" * 3_000, "--file", "f"), "an owner has"),
        (("eve", "--file", "no-folder/f"), "no-folder/f"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_a_token_that_cannot_be(
    words: tuple[str, ...], said: str, delayer: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = delayer("token", *words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert list(tmp_path.iterdir()) == []
