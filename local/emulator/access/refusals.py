"""A refusal in the form that the AWS clients read: each protocol of AWS has its own."""

import json
from collections.abc import Mapping
from xml.sax.saxutils import escape

from local.emulator.access.claims import Refused
from local.emulator.asgi import Send


async def refuse(send: Send, headers: Mapping[str, str], refused: Refused, status: int = 403) -> None:
    """Send an AWS error. The protocol is the one of the request's `headers`; JSON if they do not tell."""
    body, content_type = error_for(headers, refused.code, str(refused))
    sent = [
        (b"content-type", content_type),
        (b"content-length", str(len(body)).encode()),
        (b"x-amzn-errortype", refused.code.encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})


def error_for(headers: Mapping[str, str], code: str, message: str) -> tuple[bytes, bytes]:
    """The body of an error and its content type."""
    inner = f"<Code>{code}</Code><Message>{escape(message)}</Message>"
    if "/s3/aws4_request" in headers.get("authorization", ""):
        return f"<?xml version='1.0'?><Error>{inner}</Error>".encode(), b"application/xml"
    if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return f"<ErrorResponse><Error><Type>Sender</Type>{inner}</Error></ErrorResponse>".encode(), b"text/xml"
    return json.dumps({"__type": code, "message": message}).encode(), b"application/json"
