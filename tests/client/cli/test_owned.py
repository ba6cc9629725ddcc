"""Connections, actions, the signing secret, profiles."""

from pathlib import Path

import pytest

from tests.client.cli.conftest import HOOK, Cli


def test_a_connection(delayer: Cli, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret-token\n")
    put = delayer("connections", "put", "crm", "--type", "bearer", "--secret", f"@{tmp_path / 'token'}")
    assert put.status == 0, put.err
    assert "bearer" in put.out
    assert delayer("connections", "list", "--json").objects[0]["name"] == "crm"
    delayer.scheduled("--in", "1s", "--connection", "crm")
    delayer("schedule", "http", HOOK, "--in", "2s", "--wait")
    assert delayer.fake.handed_over[0].headers["authorization"] == "Bearer secret-token"
    assert "secret-token" not in delayer("connections", "get", "crm").out
    assert delayer("connections", "test", "crm", HOOK).status == 0
    assert delayer("connections", "delete", "crm", "--force").status == 2
    assert delayer("connections", "delete", "crm").status == 0
    assert delayer("connections", "get", "crm").status == 3


def test_the_hosts_of_a_connection(delayer: Cli) -> None:
    flags = ("--type", "bearer", "--secret", "x", "--host", "api.example.com", "--host", "*.example.org:*")
    put = delayer("connections", "put", "crm", *flags)
    assert (put.status, "api.example.com, *.example.org:*" in put.out) == (0, True), put.err
    refused = delayer("schedule", "http", HOOK, "--in", "1s", "--connection", "crm")
    assert refused.status == 2
    assert "the connection crm is not for this host" in refused.err
    assert "example.org" not in delayer("connections", "put", "crm", "--type", "bearer", "--secret", "x").out
    assert "any" in delayer("connections", "get", "crm").out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--type", "basic", "--secret", "x"), "basic needs --username"),
        (("--type", "bearer", "--secret", "x", "--scope", "y"), "bearer has no --scope"),
        (("--type", "bearer"), "Give the secret with --secret @file"),
        (("--type", "magic", "--secret", "x"), "it is one of api-key, basic, bearer"),
    ],
)
def test_what_a_connection_needs(delayer: Cli, flags: tuple[str, ...], said: str) -> None:
    done = delayer("connections", "put", "crm", *flags)
    assert done.status == 2
    assert said in done.err


def test_the_types_of_action(delayer: Cli) -> None:
    assert "http-request" in delayer("actions", "list").out
    assert "timeoutSeconds" in delayer("actions", "show", "http").out
    assert delayer("actions", "show", "http", "--json").objects[0]["schema"]["required"] == ["type", "url"]


def test_the_signing_secret(delayer: Cli) -> None:
    [first] = delayer("signing-secret", "show", "--json").objects
    assert delayer("signing-secret", "rotate").status == 2
    [second] = delayer("signing-secret", "rotate", "--overlap", "2h", "--yes", "--json").objects
    assert second["previous"] == first["current"]


def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "new" / "config.toml"
    monkeypatch.setenv("DELAYER_CONFIG", str(path))
    return path


def test_a_profile_is_written_for_its_user_alone(delayer: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = config(monkeypatch, tmp_path)
    (tmp_path / "token").write_text("jwt\n")
    done = delayer(
        "configure", "--profile", "work", "--url", "https://delayer.example.com", "--token", f"@{tmp_path / 'token'}"
    )
    assert done.status == 0, done.err
    assert "nobody but you can read" in done.err
    assert path.stat().st_mode & 0o777 == 0o600
    assert 'token = "jwt"' in path.read_text()
    shown = delayer("configure", "--show")
    assert "jwt" not in shown.out
    assert "https://delayer.example.com" in shown.out
    delayer("configure", "--profile", "work", "--owner", "me")
    assert delayer("configure", "--show", "--json").objects == [
        {"profile": "work", "url": "https://delayer.example.com", "token": "***", "owner": "me"}
    ]
    assert delayer("configure", "--profile", "work", "--remove", "--owner", "me").status == 2, "a profile is whole"
    assert delayer("configure", "--profile", "work", "--remove").status == 0
    assert delayer("list", "--profile", "work").status == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("configure", "--show", "--remove"), "--show shows all profiles: leave out --remove and --profile."),
        (("configure", "--show", "--profile", "nope"), "--show shows all profiles: leave out --remove and --profile."),
        (("--profile", "work", "configure", "--show"), "--show shows all profiles: leave out --remove and --profile."),
        (("configure", "--profile", "", "--remove"), "`--profile` is empty: give it a value, or leave it out."),
        (("connections", "delete", ""), "NAME is empty: give it a value."),
        (("groups", "cancel", "", "--yes"), "GROUP is empty: give it a value."),
        (("connections", "put", "x", "--type", "bearer", "--secret", "s", "--host", ""), "`--host` is empty"),
    ],
    ids=str,
)
def test_a_flag_without_an_effect_is_refused(
    delayer: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    path = config(monkeypatch, tmp_path)
    for name in ("default", "work"):
        delayer("configure", "--profile", name, "--url", "http://localhost:9")
    before = path.read_text()
    done = delayer(*words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert path.read_text() == before


def test_a_profile_is_asked_for(delayer: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = config(monkeypatch, tmp_path)
    assert delayer("configure").status == 2
    done = delayer.at_a_terminal()("configure", input="http://localhost:9999\n\n")
    assert done.status == 0, done.err
    assert 'url = "http://localhost:9999"' in path.read_text()
    assert delayer("configure", "--url", "nonsense").status == 2
    assert delayer("configure", "--zone", "Nowhere").status == 2


def test_what_counts_first(delayer: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config(monkeypatch, tmp_path)
    delayer("configure", "--zone", "Asia/Tokyo", "--url", "http://of.profile")
    delayer("configure", "--profile", "work", "--zone", "Europe/Lisbon")

    def zone(*flags: str) -> str:
        return delayer("series", "preview", "0 9 * * *", "--count", "1", *flags).out.splitlines()[2].split()[3]

    assert zone() == "JST"
    assert zone("--profile", "work") == "WET"
    monkeypatch.setenv("DELAYER_ZONE", "Asia/Kolkata")
    assert zone("--profile", "work") == "IST"
    assert zone("--zone", "UTC") == "UTC"
    assert "http://of.profile" in delayer("watch", "--once").out
    assert "http://of.flag" in delayer("watch", "--once", "--url", "http://of.flag").out


def test_a_broken_file_of_profiles_is_named(delayer: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = config(monkeypatch, tmp_path)
    path.parent.mkdir()
    path.write_text("[profiles")
    done = delayer("list")
    assert done.status == 2
    assert str(path) in done.err


def test_an_owner_is_named_by_a_flag(delayer: Cli) -> None:
    delayer("schedule", "http", HOOK, "--in", "1h", "--owner", "blue")
    assert len(delayer("list", "--json", "--owner", "blue").objects) == 1
    assert delayer("list", "--json").objects == []
    assert len(delayer("--owner", "blue", "list", "--json").objects) == 1
