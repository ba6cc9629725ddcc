"""A receiver finds out whether a request is Delayer's: signed by the scheduler's own code, verified by the client's."""

import base64
import time
from collections.abc import Callable

import pytest

from delayer.signing.rules import signed_headers
from delayer_client.webhooks import NotVerified, verify

KEYS = [bytes([n]) * 32 for n in (1, 2, 3)]
FIRST, SECOND, OTHER = ("whsec_" + base64.b64encode(key).decode() for key in KEYS)
BODY = '{"order": 17, "ä": "\u2028"}'.encode()


def headers(*keys: bytes, age: int = 0) -> dict[str, str]:
    return signed_headers(keys, "040q3", (int(time.time()) - age) * 1000, BODY)


@pytest.mark.parametrize("secrets", [(FIRST,), (OTHER, FIRST), (FIRST, "whsec_!")])
def test_what_is_signed_is_verified(secrets: tuple[str, ...]) -> None:
    verify(BODY, headers(KEYS[0]), *secrets)
    verify(BODY.decode(), {name.upper(): value for name, value in headers(KEYS[0]).items()}, *secrets)


def test_through_a_rotation() -> None:
    both = headers(KEYS[0], KEYS[1])
    verify(BODY, both, FIRST)
    verify(BODY, both, SECOND)


@pytest.mark.parametrize(
    ("body", "sent", "secrets", "says"),
    [
        (BODY, lambda: headers(KEYS[0]), (OTHER,), "not of one of these secrets"),
        (BODY + b" ", lambda: headers(KEYS[0]), (FIRST,), "not of one"),
        (BODY, lambda: headers(KEYS[0], age=600), (FIRST,), "not of one.*old"),
        (BODY, dict, (FIRST,), "no header webhook-id"),
        (BODY, lambda: headers(KEYS[0]) | {"webhook-signature": "v1"}, (FIRST,), "not well-formed"),
        (BODY, lambda: headers(KEYS[0]), ("whsec_",), "whsec_ and base64"),
        (b"\xff", lambda: headers(KEYS[0]), (FIRST,), "UTF-8"),
        (BODY, lambda: headers(KEYS[0]), (), "No secret"),
    ],
)
def test_what_is_not_is_refused(
    body: bytes, sent: Callable[[], dict[str, str]], secrets: tuple[str, ...], says: str
) -> None:
    with pytest.raises(NotVerified, match=f"(?i){says}"):
        verify(body, sent(), *secrets)


def test_a_payload_that_is_not_an_object_is_verified_too() -> None:
    for body in (b"", b"null", b"17"):
        verify(body, signed_headers(KEYS[:1], "i", int(time.time()) * 1000, body), FIRST)
