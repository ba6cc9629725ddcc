"""What the API takes in a payload, its owner can look at: client, command line, console, test kit (ADR 0148)."""

import json
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delayer_client import HttpRequest, Repeat
from delayer_client.calls.decoding import decoded, shown
from delayer_client.cli.session import Surroundings
from delayer_client.testing import FakeDelayer
from tests.client.cli.conftest import HOOK, Cli
from tests.client.console.world import console

LONG = "7" * 5_000
PAYLOADS = {
    "beyond a float": "[1E400]",
    "beyond a float, negative": '{"a": -1e999}',
    "more digits than Python writes": f"[{LONG}]",
    "an exponent of thousands": "1e5000",
    "an exponent of twenty digits": '{"a": {"b": 1e99999999999999999999}}',
    "a float's largest": "1.7976931348623157e308",
    "500 levels of lists": "[" * 500 + "]" * 500,
    "500 levels of objects": '{"a":' * 500 + "1" + "}" * 500,
    "a name twice": '{"a": 1, "a": 1E400}',
    "not in SQS": '"\\ufffe"',
}


def exactly(digits: str) -> Decimal | str:
    try:
        return Decimal(digits)
    except InvalidOperation:
        return digits


def strictly(text: str) -> Any:
    return json.loads(text, parse_float=exactly, parse_int=exactly, parse_constant=pytest.fail)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_it_is_shown_wherever_a_schedule_is(payload: str) -> None:
    """Client, command line and console, each over the API of the scheduler itself: some seconds for all."""
    fake = FakeDelayer()
    with fake.client() as client:
        made = client.schedule(HttpRequest(url=HOOK), delay=timedelta(minutes=5), payload=msgspec.Raw(payload.encode()))
        every = client.series.create(
            Repeat(every="PT1H"), HttpRequest(url=HOOK), payload=msgspec.Raw(payload.encode()), name="each"
        )
        assert made.id
        found = client.get(made.id)
        assert strictly(msgspec.json.encode(found.payload).decode()) == strictly(payload)
        again = client.change(made.id, payload=found.payload).id
        assert again, "what was shown can be sent again"
        assert [one.id for one in client.list()][:1]
        assert [one.id for one in client.series.list()] == [every.id]
        assert client.wait(again).state == "executed"
        run = Cli(surroundings=Surroundings(transport=fake.transport, now=lambda: fake.now), fake=fake)
        for args in (("get", again), ("list",), ("series", "list"), ("series", "get", str(every.id))):
            for flags in ((), ("--json",)):
                ran = run(*args, *flags)
                assert ran.status == 0, ran.err
                assert [strictly(line) for line in ran.out.splitlines() if flags] or not flags
        shown_by_cli = run("get", again, "--json").out
        assert strictly(shown_by_cli)["payload"] == strictly(payload)
    with console(fake=fake) as one:
        for page in ("", "/schedules", f"/schedules/{again}", "/series", f"/series/{every.id}"):
            one.page(page)


numbers = st.builds(
    lambda sign, digits, exponent: f"{sign}{digits}{exponent}",
    st.sampled_from(["", "-"]),
    st.text("0123456789", min_size=1, max_size=30).map(lambda one: one.lstrip("0") or "0"),
    st.just("") | st.integers(-400, 6_000).map(lambda one: f"e{one}") | st.just(".5E+400"),
)
texts = st.text(st.characters(codec="utf-8")).map(json.dumps)
values = st.recursive(
    numbers | texts | st.sampled_from(["null", "true", LONG]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda found: f"[{','.join(found)}]")
        | st.dictionaries(texts, inner, max_size=3).map(
            lambda found: "{" + ",".join(f"{name}:{value}" for name, value in found.items()) + "}"
        )
    ),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(values)
@example("1E400")
def test_whatever_is_read_is_shown_with_its_value(text: str) -> None:
    """What a float holds is read as one, as ever; what none holds keeps its value."""
    found = decoded(f'{{"payload": {text}}}', dict[str, Any])
    one_line, lines = shown(found), shown(found, 2)
    assert strictly(one_line) == strictly(lines)
    assert decoded(one_line, dict[str, Any]) == found
