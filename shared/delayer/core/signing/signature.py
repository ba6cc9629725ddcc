"""The headers of a signed request, by the Standard Webhooks scheme: https://www.standardwebhooks.com."""

import base64
import hmac
from collections.abc import Iterable

from delayer.core.schedule.instants import SECOND, Millis


def signed_headers(secrets: Iterable[bytes], message_id: str, at: Millis, body: bytes) -> dict[str, str]:
    """Of one attempt. Each secret makes a signature; a receiver takes the request if one of them is right."""
    timestamp = str(at // SECOND)
    content = f"{message_id}.{timestamp}.".encode() + body
    return {
        "Webhook-Id": message_id,
        "Webhook-Timestamp": timestamp,
        "Webhook-Signature": " ".join(_signature(secret, content) for secret in secrets),
    }


def _signature(secret: bytes, content: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(secret, content, "sha256")).decode()
