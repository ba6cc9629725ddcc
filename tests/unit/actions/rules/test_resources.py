"""Patterns of queues, topics, functions, state machines and buses."""

import re
from fnmatch import translate
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.actions.rules.addresses import is_like, pattern_of, resource_of

FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:orders-ship"


def allows(rule: str, pattern: str, text: str) -> bool:
    one = resource_of(rule, text)
    return one is not None and pattern_of(rule, pattern).matches(one)


@pytest.mark.parametrize(
    ("rule", "pattern", "text"),
    [
        ("queues", "orders", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"),
        ("queues", "orders-*.fifo", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders-1.fifo"),
        ("queues", "arn:aws:sqs:eu-*:123456789012:orders", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"),
        ("queues", "arn:aws:sqs:eu-west-1:*:orders", "http://localhost:8081/000000000000/orders"),
        ("topics", "*-events", "arn:aws:sns:eu-west-1:123456789012:order-events"),
        ("functions", "orders-*", FUNCTION),
        ("functions", "orders-ship", f"{FUNCTION}:live"),
        ("functions", FUNCTION, f"{FUNCTION}:live"),
        ("functions", f"{FUNCTION}:live", f"{FUNCTION}:live"),
        ("functions", "arn:aws:lambda:*:*:function:orders-*", FUNCTION),
        ("stateMachines", "ship", "arn:aws:states:eu-west-1:123456789012:stateMachine:ship:3"),
        ("eventBuses", "arn:aws:events:*:*:event-bus/shop", "arn:aws:events:eu-west-1:123456789012:event-bus/shop"),
    ],
)
def test_what_is_allowed(rule: str, pattern: str, text: str) -> None:
    assert allows(rule, pattern, text)


@pytest.mark.parametrize(
    ("rule", "pattern", "text"),
    [
        ("queues", "orders", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders-2"),
        ("queues", "orders", "https://sqs.eu-west-1.amazonaws.com/123456789012/my-orders"),
        ("queues", "orders", "https://sqs.eu-west-1.amazonaws.com/123456789012/Orders"),
        ("queues", "orders", "https://evil.example/123456789012/orders"),
        ("queues", "orders", "https://sqs.eu-west-1.amazonaws.com.evil.example/123456789012/orders"),
        ("queues", "orders", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders?x"),
        ("queues", "orders", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders/../other"),
        (
            "queues",
            "arn:aws:sqs:eu-west-1:123456789012:orders",
            "https://sqs.us-east-1.amazonaws.com/123456789012/orders",
        ),
        (
            "queues",
            "arn:aws:sqs:eu-west-1:123456789012:orders",
            "https://sqs.eu-west-1.amazonaws.com/999999999999/orders",
        ),
        ("topics", "orders", "arn:aws:sqs:eu-west-1:123456789012:orders"),
        ("functions", f"{FUNCTION}:live", FUNCTION),
        ("functions", f"{FUNCTION}:live", f"{FUNCTION}:next"),
        ("functions", "orders-*", "arn:aws:lambda:eu-west-1:123456789012:layer:orders-ship"),
        ("functions", "*-ship", f"{FUNCTION}-evil"),
        ("functions", "other*live", f"{FUNCTION}:live"),
        ("functions", "orders-ship", "orders-ship"),
        ("eventBuses", "shop", "arn:aws:events:eu-west-1:123456789012:rule/shop"),
        ("topics", "orders", ""),
    ],
)
def test_what_only_looks_like_it(rule: str, pattern: str, text: str) -> None:
    assert not allows(rule, pattern, text)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("queues", "*"), ("queues", "**"), ("queues", "*-*"), ("queues", "arn:aws:sqs:*:*:*"), ("queues", ""),
        ("queues", "a b"), ("queues", "arn:aws:sns:*:*:orders"), ("queues", "arn:aws:sqs:orders"), ("queues", "?rders"),
        ("functions", "arn:aws:lambda:*:*:orders"), ("functions", f"{FUNCTION}:a:b"), ("functions", f"{FUNCTION}:"),
        ("functions", "arn:aws:lambda:*:*:function:*"), ("topics", "x" * 401), ("eventBuses", "event-bus/x"),
        ("queues", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"), ("topics", "\u00e9"),
    ],
)  # fmt: skip
def test_patterns_that_match_too_much_or_cannot_be_read(rule: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        pattern_of(rule, text)


ACCOUNT = "123456789012"
ALL_OF = [  # a pattern for all in one account, and one resource there
    ("queues", f"arn:aws:sqs:*:{ACCOUNT}:*", f"https://sqs.eu-west-1.amazonaws.com/{ACCOUNT}/orders"),
    ("queues", f"arn:aws:sqs:eu-west-1:{ACCOUNT}:*", f"arn:aws:sqs:eu-west-1:{ACCOUNT}:orders"),
    ("topics", f"arn:aws:sns:*:{ACCOUNT}:*", f"arn:aws:sns:eu-west-1:{ACCOUNT}:orders"),
    ("functions", f"arn:aws:lambda:*:{ACCOUNT}:function:*", f"{FUNCTION}:live"),
    ("eventBuses", f"arn:aws:events:*:{ACCOUNT}:event-bus/*", f"arn:aws:events:eu-west-1:{ACCOUNT}:event-bus/b"),
]


@pytest.mark.parametrize(("rule", "pattern", "text"), ALL_OF)
def test_all_of_one_account(rule: str, pattern: str, text: str) -> None:
    assert allows(rule, pattern, text)
    assert not allows(rule, pattern, text.replace(ACCOUNT, "999999999999"))
    for account in ("*", "1*", "123456789012*", "12345678901", "", "??????????12"):
        with pytest.raises(ValueError, match=r"."):
            pattern_of(rule, pattern.replace(ACCOUNT, account))


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_a_star_is_any_characters(pattern: str, text: str) -> None:
    assert is_like(pattern, text) == bool(re.fullmatch(translate(pattern), text))


def test_no_pattern_takes_long() -> None:
    began = monotonic()
    assert not is_like("*a" * 200 + "*b", "a" * 400)
    assert monotonic() - began < 0.1
