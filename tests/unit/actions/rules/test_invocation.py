"""What goes between executor-remote and a function in another stack. Neither side trusts the other's text."""

import json
from typing import Any

import pytest

from delayer.actions.rules.invocation import MOST_SECONDS, answered, as_action, as_result, described
from delayer.actions.rules.model import ActionType, Done, Refused, Result, Retry
from delayer.ledger.model import MAX_DETAIL


@pytest.mark.parametrize(
    "result",
    [
        Done("HTTP 200"),
        Retry(detail="busy"),
        Retry(detail="busy", after_seconds=0),
        Retry(detail="HTTP 503", is_outage=True),
        Retry(detail="HTTP 503", after_seconds=7, is_outage=True),
        Refused("no such channel"),
        Refused("not a public address", reached=False),
        Retry(detail="no token", reached=False),
    ],
)
def test_a_result_arrives_as_it_was(result: Result) -> None:
    assert as_result(json.loads(json.dumps(answered(result)))) == result


@pytest.mark.parametrize(
    "content",
    [
        None,
        "done",
        [],
        {},
        {"outcome": "done"},
        {"outcome": "done", "detail": None},
        {"outcome": "executed", "detail": ""},
        {"outcome": "retry", "detail": "", "afterSeconds": -1},
        {"outcome": "retry", "detail": "", "afterSeconds": 1.5},
        {"outcome": "retry", "detail": "", "afterSeconds": "1"},
        {"outcome": "retry", "detail": ""},
        {"statusCode": 200},
    ],
    ids=str,
)
def test_what_is_no_answer_is_none(content: Any) -> None:
    with pytest.raises(ValueError, match="no Done, Retry or Refused"):
        as_result(content)


def test_a_detail_is_short_and_printable_whoever_wrote_it() -> None:
    result = as_result({"outcome": "done", "detail": "\x1b[2J" + "é" * 100_000, "more": "ignored"})
    assert result.detail.startswith("?[2J???")
    assert len(result.detail) == MAX_DETAIL


@pytest.mark.parametrize("more", [{}, {"isOutage": False}, {"isOutage": "true"}, {"isOutage": None}], ids=str)
@pytest.mark.parametrize("after", [None, 7])
def test_it_is_an_outage_only_if_the_function_says_so(more: dict[str, Any], after: int | None) -> None:
    """One that was built with an older Delayer does not."""
    content = {"outcome": "retry", "detail": "busy", "afterSeconds": after, **more}
    assert as_result(content) == Retry(detail="busy", after_seconds=after)


def test_nobody_waits_for_ever() -> None:
    assert as_result({"outcome": "retry", "detail": "", "afterSeconds": 10**30}) == Retry(
        detail="", after_seconds=MOST_SECONDS
    )


def test_a_class_arrives_as_it_was() -> None:
    action = ActionType(type="slack-post", schema='{"type": "object"}', fair_by="channel")
    assert as_action(json.loads(json.dumps(described(action)))) == action


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "does not answer as an executor"),
        ({"statusCode": 200}, "does not answer as an executor"),
        ({"action": {}}, "does not answer as an executor"),
        ({"action": "{}"}, "newer Delayer"),
        ({"action": '{"v": 2}'}, "newer Delayer"),
        ({"action": '{"v": 1, "type": 5}'}, "cannot be read"),
        ({"action": "<html>"}, "cannot be read"),
    ],
)
def test_the_reason_is_ours(content: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as raised:
        as_action(content)
    assert "html" not in str(raised.value)
