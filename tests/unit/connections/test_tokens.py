"""Who may fetch a token, and what is none."""

import json
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.connections.rules import (
    APART,
    LARGEST_ANSWER,
    LONGEST,
    AwaitToken,
    Failed,
    Fetch,
    NoToken,
    Token,
    TokenRow,
    UseToken,
    Wanted,
    decide_token,
    token_in,
    with_token,
    without_token,
)
from delayer.schedule.instants import HOUR, SECOND
from tests.samples import NOW, OWNER

WANTED = Wanted(owner=OWNER, name="crm", secret="s1")
CLAIM = TokenRow(owner=OWNER, name="crm", secret="s1", fetched_at=NOW)
HELD = with_token(CLAIM, Token(text="t", seconds=3600), "sealed")


def test_the_first_fetches() -> None:
    assert decide_token(None, WANTED, NOW) == Fetch(claim=CLAIM, over=None)


def test_while_somebody_fetches_all_others_wait() -> None:
    assert decide_token(CLAIM, WANTED, NOW + 1) == AwaitToken(NOW + APART)
    assert isinstance(decide_token(CLAIM, WANTED, NOW + APART), Fetch)


def test_who_has_little_time_leaves_the_minute_after_a_fetch_that_was_cut_off_to_others() -> None:
    """And takes the one after that: there may be nobody else."""
    for now, expected in ((NOW + APART, AwaitToken), (NOW + 2 * APART - 1, AwaitToken), (NOW + 2 * APART, Fetch)):
        assert isinstance(decide_token(CLAIM, WANTED, now, is_short=True), expected)
        assert isinstance(decide_token(CLAIM, WANTED, now), Fetch)


def test_after_a_fetch_that_brought_something_short_attempts_are_like_all_others() -> None:
    for row in (HELD, without_token(CLAIM, "HTTP 500")):
        for now in (NOW + 1, NOW + APART, HELD.fresh_until, HELD.expires_at):
            assert decide_token(row, WANTED, now, is_short=True) == decide_token(row, WANTED, now)


def test_a_token_is_used_until_shortly_before_its_end() -> None:
    assert decide_token(HELD, WANTED, HELD.fresh_until - 1) == UseToken(HELD)
    assert isinstance(decide_token(HELD, WANTED, HELD.fresh_until), Fetch)
    assert HELD.expires_at - HELD.fresh_until == 60 * SECOND


def test_while_it_is_renewed_the_old_one_is_used() -> None:
    decision = decide_token(HELD, WANTED, HELD.fresh_until)
    assert isinstance(decision, Fetch)
    assert decide_token(decision.claim, WANTED, HELD.fresh_until + 1) == UseToken(decision.claim)
    assert decision.claim.sealed == HELD.sealed


def test_a_rejected_token_is_renewed_within_the_rule_and_is_better_than_none() -> None:
    rejected = evolve(WANTED, rejected="sealed")
    assert decide_token(HELD, rejected, NOW + 1) == UseToken(HELD)
    assert isinstance(decide_token(HELD, rejected, NOW + APART), Fetch)
    assert decide_token(evolve(HELD, sealed="newer"), rejected, NOW + 1) == UseToken(evolve(HELD, sealed="newer"))


def test_a_token_of_other_values_is_of_no_use() -> None:
    """And the connection is still the same: its minute counts."""
    other = evolve(WANTED, secret="s2")
    assert decide_token(HELD, other, NOW + 1) == AwaitToken(NOW + APART)
    decision = decide_token(HELD, other, NOW + APART)
    assert isinstance(decision, Fetch)
    assert (decision.claim.sealed, decision.claim.revision) == ("", HELD.revision + 1)


def test_a_failure_is_known_to_all_for_a_minute() -> None:
    failed = without_token(CLAIM, "HTTP 500")
    assert decide_token(failed, WANTED, NOW + 1) == Failed(reason="HTTP 500", until=NOW + APART)
    assert isinstance(decide_token(failed, WANTED, NOW + APART), Fetch)
    assert isinstance(decide_token(failed, evolve(WANTED, secret="s2"), NOW + 1), AwaitToken), "of other values"


def test_a_clock_that_was_wrong_does_not_stop_it_for_ever() -> None:
    assert isinstance(decide_token(evolve(CLAIM, fetched_at=NOW + HOUR), WANTED, NOW), Fetch)


@pytest.mark.parametrize("skew", [-APART + 1, -SECOND, -1, 0, 1, SECOND, APART - 1])
@pytest.mark.parametrize("passed", [0, 1, 10 * SECOND])
def test_clocks_that_differ_make_no_second_fetch(skew: int, passed: int) -> None:
    """Who fetched has a clock that is ahead or behind."""
    row, now = evolve(CLAIM, fetched_at=NOW + skew), NOW + passed
    is_over = abs(passed - skew) >= APART
    assert isinstance(decide_token(row, WANTED, now), Fetch) == is_over
    assert isinstance(decide_token(without_token(row, "HTTP 500"), WANTED, now), Fetch) == is_over


@given(
    skews=st.lists(st.integers(-20 * SECOND, 20 * SECOND), min_size=1, max_size=5),
    calls=st.lists(st.tuples(st.integers(0, 30 * SECOND), st.integers(0, 4)), max_size=60),
)
def test_by_any_clocks_two_fetches_are_apart_but_for_what_these_differ(
    skews: list[int], calls: list[tuple[int, int]]
) -> None:
    row: TokenRow | None = None
    now, fetched = NOW, list[int]()
    for passed, who in calls:
        now += passed
        decision = decide_token(row, WANTED, now + skews[who % len(skews)])
        if isinstance(decision, Fetch):
            fetched.append(now)
            row = without_token(decision.claim, "HTTP 500")
    assert all(later - earlier >= APART - (max(skews) - min(skews)) for earlier, later in pairwise(fetched))


@given(
    calls=st.lists(
        st.tuples(st.integers(0, 90 * SECOND), st.sampled_from(["", "sealed", "other"]), st.sampled_from(["s1", "s2"])),
        max_size=60,
    ),
    outcome=st.sampled_from(["token", "failure", "death"]),
    seconds=st.integers(1, 7200),
)
def test_no_two_fetches_are_nearer_than_a_minute(calls: list[tuple[int, str, str]], outcome: str, seconds: int) -> None:
    row: TokenRow | None = None
    now, fetched = NOW, list[int]()
    for passed, rejected, secret in calls:
        now += passed
        decision = decide_token(row, Wanted(owner=OWNER, name="crm", secret=secret, rejected=rejected), now)
        if isinstance(decision, Fetch):
            fetched.append(now)
            row = decision.claim
            if outcome == "token":
                row = with_token(row, Token(text="t", seconds=seconds), "sealed")
            elif outcome == "failure":
                row = without_token(row, "HTTP 500")
        elif isinstance(decision, UseToken):
            assert now < decision.row.expires_at
            assert decision.row.secret == secret
    assert all(later - earlier >= APART for earlier, later in pairwise(fetched))


# ------------------------------------------------------------ the answer of an endpoint


def answer(**fields: Any) -> bytes:
    return json.dumps({"access_token": "t-1", "token_type": "Bearer", "expires_in": 3600, **fields}).encode()


@pytest.mark.parametrize("seconds", [1, 3600, "3599", 3599.7, 315_360_000])
def test_a_token(seconds: Any) -> None:
    token = token_in(200, answer(expires_in=seconds))
    assert (token.text, token.seconds) == ("t-1", int(float(seconds)))
    assert with_token(CLAIM, token, "x").expires_at - NOW <= LONGEST


def test_what_an_endpoint_need_not_say() -> None:
    assert token_in(201, b'{"access_token": "t-1"}') == Token(text="t-1", seconds=300)


HOSTILE: dict[str, tuple[int, bytes, str]] = {
    "refused": (401, answer(), "HTTP 401"),
    "down": (503, b"", "HTTP 503"),
    "elsewhere": (302, b"", "redirects are not followed"),
    "moved for good": (308, answer(), "redirects are not followed"),
    "large": (200, b"x" * (LARGEST_ANSWER + 1), "more than 65,536 bytes"),
    "empty": (200, b"", "no JSON"),
    "a form": (200, b"access_token=t-1", "no JSON"),
    "a list": (200, b"[]", "no JSON"),
    "deep": (200, b"[" * 60_000, "no JSON"),
    "not UTF-8": (200, b'{"access_token": "\xff"}', "no JSON"),
    "without a token": (200, b"{}", "without access_token"),
    "a token that is none": (200, answer(access_token=7), "without access_token"),
    "an empty token": (200, answer(access_token=""), "without access_token"),
    "a long token": (200, answer(access_token="t" * 8_193), "more than 8,192 characters"),
    "a token with a line feed": (200, answer(access_token="t\r\nX-Admin: 1"), "characters"),
    "a token with a space": (200, answer(access_token="t 1"), "characters"),
    "a token that is not ASCII": (200, answer(access_token="tö"), "characters"),
    "another type": (200, answer(token_type="mac"), "another type"),
    "a type that is none": (200, answer(token_type=[]), "another type"),
    "a negative time": (200, answer(expires_in=-1), "expires_in"),
    "no time": (200, answer(expires_in=0), "expires_in"),
    "a time that is none": (200, answer(expires_in="soon"), "expires_in"),
    "a truth": (200, answer(expires_in=True), "expires_in"),
    "a long time": (200, answer(expires_in=10**30), "expires_in"),
    "a very long time": (200, answer(expires_in=1e300), "expires_in"),
    "null": (200, answer(expires_in=None), "expires_in"),
    "not a number": (200, answer().replace(b"3600", b"NaN"), "no JSON"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_no_token(case: str) -> None:
    status, body, reason = HOSTILE[case]
    with pytest.raises(NoToken, match=reason) as raised:
        token_in(status, body)
    assert "t-1" not in str(raised.value)


def test_a_token_is_not_printed() -> None:
    assert "t-1" not in repr(token_in(200, answer()))
