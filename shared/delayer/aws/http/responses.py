"""Responses that are 2xx, and how a schedule is shown in all of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

Response = dict[str, Any]
Shown = dict[str, object]


def response(
    status: int, body: object, headers: Mapping[str, str] | None = None, content_type: str = "application/json"
) -> Response:
    """As API Gateway takes it."""
    return {
        "statusCode": status,
        "headers": {"Content-Type": content_type, **(headers or {})},
        "body": _encoded(body),
    }


def _encoded(body: object) -> str:
    """A payload keeps its bytes. Text that is not valid Unicode, which a client may have sent, is escaped."""
    try:
        return msgspec.json.encode(body).decode()
    except UnicodeEncodeError:
        return json.dumps(body)


def known(values: Shown) -> Shown:
    """Without what is not known of it."""
    return {name: value for name, value in values.items() if value not in (None, "")}


def results(responses: Sequence[Response]) -> Response:
    """200, with what a POST of each would have been answered."""
    return response(200, {"results": [_result(one) for one in responses]})


def _result(one: Response) -> Shown:
    kind = "schedule" if one["statusCode"] == 201 else "problem"
    return {"status": one["statusCode"], kind: msgspec.Raw(one["body"].encode())}
