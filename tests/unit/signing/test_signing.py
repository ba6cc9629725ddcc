"""Secrets and signatures as such: no two owners share one, and they are those of the scheme."""

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some
from standardwebhooks import Webhook

from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.signing.rules import (
    CURRENT_AFTER,
    NotRotated,
    Rotation,
    SigningKeys,
    Superseded,
    as_text,
    first_keys,
    rotated_keys,
    secret_of,
    signed_headers,
    signing_secrets,
)
from tests.samples import NOW

KEY = bytes(range(32))
owners = some.text(min_size=1, max_size=40)


@given(some.sets(some.tuples(owners, some.integers(1, 2**40)), min_size=2, max_size=20))
def test_no_two_owners_or_versions_share_a_secret(pairs: set[tuple[str, int]]) -> None:
    """It takes a second: many secrets are derived."""
    assert len({secret_of(KEY, owner, version) for owner, version in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", 1), ("a\0\0\0\0\0\0\0\1", 1)),
        (("", 97), ("a", 1)),
        (("é", 1), ("e\u0301", 1)),
        (("A", 1), ("a", 1)),
        (("a ", 1), ("a", 1)),
    ],
)
def test_owners_that_look_alike_are_two(one: tuple[str, int], other: tuple[str, int]) -> None:
    assert secret_of(KEY, *one) != secret_of(KEY, *other)


def test_the_derivation_stays_as_it_is() -> None:
    """Receivers hold what it made: another form has another PURPOSE, and is another secret for all of them."""
    secret = as_text(secret_of(KEY, "urn:owner:one", 1))
    assert secret == "whsec_PqIcVAZSUaR1dGiV7MaRCZKnitJqvco2VyOWSZkuxqE="
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32


@given(some.binary(min_size=24, max_size=64), some.text(max_size=200), some.integers(0, 2**33))
def test_a_signature_is_that_of_the_reference(secret: bytes, body: str, second: int) -> None:
    headers = signed_headers([secret], "msg", second * SECOND + 999, body.encode())
    at = datetime.fromtimestamp(second, UTC)
    assert headers["Webhook-Timestamp"] == str(second)
    assert headers["Webhook-Signature"] == Webhook(secret).sign("msg", at, body)


def test_the_current_secret_signs_first() -> None:
    """Some receivers look at the first signature alone."""
    keys = first_keys(KEY, NOW)
    later = rotated_keys(keys, bytes(32), NOW)
    rotation = Rotation(version=3, rotated_at=NOW, before=(Superseded(version=2, signs_until=NOW + HOUR),))
    before, after = (signing_secrets(later, rotation, "a", at) for at in (NOW, NOW + CURRENT_AFTER))
    assert before[:3] == tuple(secret_of(KEY, "a", version) for version in (3, 2, 4))
    assert after[:3] == tuple(secret_of(bytes(32), "a", version) for version in (3, 2, 4))
    assert sorted(before) == sorted(after)


def test_a_clock_that_is_behind_finds_a_key() -> None:
    assert first_keys(KEY, NOW).current(NOW - MINUTE) == first_keys(KEY, NOW).keys[0]


def test_no_log_shows_a_key() -> None:
    assert "secret" not in repr(first_keys(KEY, NOW))


def test_without_a_key_there_is_nothing_to_rotate() -> None:
    with pytest.raises(NotRotated, match="no signing key yet"):
        rotated_keys(SigningKeys(), KEY, NOW)
