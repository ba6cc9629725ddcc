"""The caller has a signing secret, which stays, and which the library of receivers takes."""

import hmac
from base64 import b64decode, b64encode
from http import HTTPStatus
from typing import Final

from standardwebhooks import Webhook, WebhookVerificationError

from delayer_client.operator.verify.api import Answer, now
from delayer_client.operator.verify.instants import SECOND
from delayer_client.operator.verify.results.findings import Finding, broken, held, unchecked
from delayer_client.operator.verify.session import Session

PREFIX: Final = "whsec_"  # of a secret as a text, by the Standard Webhooks scheme
PROMISE: Final = "signatures: a secret can be had, and verifies"
KEY_BYTES: Final = 32
BODY: Final = b'{"verified": true}'


def signing(session: Session) -> Finding:
    """Asks for the signing secret twice: the answers must be the same.

    How a target gets its requests signed cannot be seen from here. Errors: NoAnswer.
    """
    first, second = session.api.get("/signing-secret"), session.api.get("/signing-secret")
    if first.status == HTTPStatus.FORBIDDEN:
        return unchecked(PROMISE, "the caller may not have it (403); --skip signatures leaves it out")
    return judged(first, second)


def judged(first: Answer, second: Answer) -> Finding:
    """Nothing of a secret is in the finding."""
    for answer in (first, second):
        if answer.status != HTTPStatus.OK:
            return broken(PROMISE, f"GET /signing-secret was answered {answer.status}")
    current, again = first.content.get("current"), second.content.get("current")
    if not isinstance(current, str) or not current.startswith(PREFIX):
        return broken(PROMISE, f"its current secret does not begin with {PREFIX}")
    if current != again:
        return broken(PROMISE, "two calls in a row were answered two secrets")
    if not verifies(current):
        return broken(PROMISE, f"it is no secret of {KEY_BYTES} bytes that the library of receivers takes")
    return held(PROMISE, f"{KEY_BYTES} bytes, the same in two calls")


def verifies(secret: str) -> bool:
    """Whether a receiver with this secret takes what is signed by it."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
        if len(key) != KEY_BYTES:
            return False
        Webhook(secret).verify(BODY, signed(key, str(now() // SECOND)), json_parse=False)
    except (WebhookVerificationError, ValueError):
        return False
    return True


def signed(key: bytes, timestamp: str) -> dict[str, str]:
    """The headers of the body, as Delayer signs a request."""
    signature = hmac.digest(key, f"verify.{timestamp}.".encode() + BODY, "sha256")
    return {
        "webhook-id": "verify",
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{b64encode(signature).decode()}",
    }
