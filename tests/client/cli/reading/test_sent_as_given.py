"""What is typed is sent as it is, whole, and only after all of it is understood."""

import json
from pathlib import Path

import httpx
import pytest

from delayer_client.cli.commands.schedules.watching import percentile
from delayer_client.cli.session import Surroundings
from delayer_client.testing import Answer
from tests.client.cli.conftest import HOOK, Cli


@pytest.mark.parametrize("payload", ["[12345678901234567.125, 1.10]", '{"a":1,"a":2}', "[1e400]"])
def test_a_payload_keeps_its_bytes(delayer: Cli, payload: str) -> None:
    sent: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        return httpx.Response(404, json={"message": "no"})

    run = Cli(surroundings=Surroundings(transport=httpx.MockTransport(answer)), fake=delayer.fake)
    run("move", "0" * 47, "--in", "1h", "--payload", payload)
    assert payload.encode() in sent[0]


def test_each_cancel_has_its_answer(delayer: Cli) -> None:
    first, last = delayer.scheduled(), delayer.scheduled()
    done = delayer("cancel", first, "nonsense", last)
    assert done.status == 3
    assert f"Cancelled: {first}" in done.out
    assert f"Cancelled: {last}" in done.out
    assert "Not cancelled: nonsense" in done.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--wait", "--timeout", "abc"), "is no duration"),
        (("--zone", "Nowhere"), "is no time zone"),
        (("--owner", "é"), "--owner 'é'"),
        (("--owner", "a\nb"), "--owner"),
        (("--idempotency-key", "é"), "--idempotency-key 'é'"),
        (("--payload", '"\\ud800"'), "half a sign"),
        (("--retry-first", "0.4s"), "whole seconds"),
        (("--api-url", "http://[::1"), "cannot be read"),
        (("--api-url", "http://localhost:abc"), "cannot be read"),
        (("--url", "http://localhost:8080"), "--api-url"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_sent(delayer: Cli, args: tuple[str, ...], said: str) -> None:
    done = delayer("schedule", "http", HOOK, "--in", "1h", *args)
    assert done.status == 2, done.err
    assert said in done.err
    assert delayer("list", "--json").objects == []


def test_a_type_that_may_be_two(delayer: Cli) -> None:
    done = delayer("connections", "put", "crm", "--type", "b", "--secret", "x")
    assert (done.status, "basic, bearer" in done.err) == (2, True)


def test_a_wait_that_fails_gives_the_id(delayer: Cli) -> None:
    done = delayer("schedule", "http", HOOK, "--in", "1h", "--wait", "--timeout", "1m", "--json")
    assert done.status == 7
    assert done.objects[0]["scheduleId"]
    delayer.fake.answer(Answer.fail_for_good("no"))
    ended = delayer("schedule", "http", HOOK, "--in", "1s", "--wait", "--json")
    assert [one["state"] for one in ended.objects] == ["failed"]


def test_the_token_of_a_profile_is_for_its_url_alone(delayer: Cli) -> None:
    sent: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("authorization"))
        return httpx.Response(401, json={"message": "no"})

    run = Cli(surroundings=Surroundings(transport=httpx.MockTransport(answer)), fake=delayer.fake)
    run("configure", "--url", "https://a.example.com", "--token", "jwt")
    run("get", "x")
    refused = run("get", "x", "--url", "https://b.example.com")
    run("get", "x", "--url", "https://a.example.com:443/")
    run("configure", "--url", "https://c.example.com")
    run("get", "x")
    assert sent == ["Bearer jwt", None, "Bearer jwt", None]
    assert "it is for the URL of the profile" in refused.err
    assert json.dumps("jwt") not in run("configure", "--show", "--json").out


@pytest.mark.parametrize("name", ["rule:bus:nightly", "[b]x[/b]", "[/b]"])
def test_a_name_is_shown_as_it_is(delayer: Cli, name: str) -> None:
    delayer("configure", "--profile", name, "--zone", "UTC")
    assert name in delayer("configure", "--show").out
    assert delayer("configure", "--profile", name, "--remove").out == f"Removed: the profile {name}.\n"


def test_the_nearest_rank() -> None:
    assert percentile([1, 100], 0.5) == 1
    assert percentile([100, 1, 2], 0.99) == 100


@pytest.mark.parametrize(
    "words", [("policy", "set", "--file"), ("policy", "try", "--schedule"), ("configure", "--token")]
)
def test_standard_input_that_is_no_text_is_refused(delayer: Cli, words: tuple[str, ...]) -> None:
    """Whatever the locale of the shell is."""
    done = delayer(*words, "-", input=b"\xff\xfe")
    assert done.status == 2
    assert "standard input cannot be read: it is no text in UTF-8." in done.err


def test_a_file_is_named_with_its_at_or_without(delayer: Cli, tmp_path: Path) -> None:
    """What is said of one that is no JSON does not advise to write it as it was."""
    (tmp_path / "f").write_text("{")
    for name in (f"@{tmp_path}/f", f"{tmp_path}/f"):
        done = delayer("policy", "set", "--file", name)
        assert done.err.startswith("--file is not JSON: Expecting property name")
        assert "@order.json" not in done.err
    assert "@order.json" in delayer("policy", "set", "--policy", "{").err
