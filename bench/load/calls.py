"""The calls of the API that the benchmarks make. No input or output here."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from attrs import field, frozen

SHOWN_CHARACTERS = 200  # of an unexpected response
OK = 200
CREATED = 201


@frozen(kw_only=True)
class NewSchedule:
    """A schedule that is to be created."""

    due: int  # point in time, epoch ms
    target: str  # URL that is called then


@frozen(kw_only=True)
class Call:
    """One request, and the status that its response must have."""

    method: str
    path: str
    expected: int
    body: str | None = None
    headers: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Response:
    """The response to a call."""

    status: int  # 0: there was no response; then the body says why
    body: bytes

    def failure(self, call: Call) -> str | None:
        """Why this is not the expected response, or None."""
        if self.status == call.expected:
            return None
        text = self.body.decode(errors="replace")[:SHOWN_CHARACTERS]
        return f"{self.status or 'no response'}: {text}"

    def schedule_id(self) -> str:
        """The id in the body; empty if there is none."""
        try:
            return str(json.loads(self.body).get("scheduleId", ""))
        except (ValueError, AttributeError):
            return ""


def post(new: NewSchedule, *, key: str = "", group: str = "") -> Call:
    """POST /schedules, with an idempotency key or in a group if they are given."""
    content = {**body_of(new), **({"group": group} if group else {})}
    headers = {"Idempotency-Key": key} if key else {}
    return with_json("POST", "/schedules", content, 201, headers)


def post_batch(news: Sequence[NewSchedule]) -> Call:
    """POST /schedules/batch. Each has its own result, so the response is 200 even if all were refused."""
    return with_json("POST", "/schedules/batch", {"schedules": [body_of(new) for new in news]}, 200)


def get(schedule_id: str) -> Call:
    """GET /schedules/{id}."""
    return Call(method="GET", path=f"/schedules/{schedule_id}", expected=200)


def delete(schedule_id: str) -> Call:
    """DELETE /schedules/{id}."""
    return Call(method="DELETE", path=f"/schedules/{schedule_id}", expected=200)


def patch(schedule_id: str, due: int) -> Call:
    """PATCH /schedules/{id}: another point in time."""
    return with_json("PATCH", f"/schedules/{schedule_id}", {"pointInTime": instant(due)}, 200)


def put(name: str, new: NewSchedule, *, replaces: bool) -> Call:
    """PUT /schedules/by-name/{name}: the expected status is 200 if it replaces a schedule, otherwise 201."""
    return with_json("PUT", f"/schedules/by-name/{name}", body_of(new), 200 if replaces else 201)


def first_page(group: str, limit: int) -> Call:
    """GET /schedules?group=, its first page."""
    return Call(method="GET", path=f"/schedules?{urlencode({'group': group, 'limit': limit})}", expected=200)


def with_json(
    method: str, path: str, content: Mapping[str, Any], expected: int, headers: Mapping[str, str] | None = None
) -> Call:
    """A call with a JSON body."""
    return Call(
        method=method,
        path=path,
        expected=expected,
        body=json.dumps(content),
        headers={"Content-Type": "application/json", **(headers or {})},
    )


def body_of(new: NewSchedule) -> dict[str, Any]:
    """The JSON that describes a schedule."""
    action = {"type": "http-request", "method": "POST", "url": new.target}
    return {"pointInTime": instant(new.due), "action": action, "payload": {"benchmark": True}}


def instant(epoch_ms: int) -> str:
    """Epoch milliseconds in the API's form, RFC 3339."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec="milliseconds")
