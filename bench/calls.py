"""The calls of the API that the benchmarks make. Pure."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from attrs import field, frozen

SHOWN = 200  # characters of an answer that was not expected


@frozen
class Wanted:
    """A schedule to be created."""

    due: int  # point in time, epoch ms
    target: str  # URL to be called


@frozen(kw_only=True)
class Call:
    """One request, and the status that it has to be answered with."""

    method: str
    path: str
    expected: int
    body: str | None = None
    headers: Mapping[str, str] = field(factory=dict)


@frozen
class Answer:
    """What came back."""

    status: int  # 0: no answer at all; then the body says why
    body: bytes

    def failure(self, call: Call) -> str | None:
        """What was not as expected, if anything."""
        if self.status == call.expected:
            return None
        text = self.body.decode(errors="replace")[:SHOWN]
        return f"{self.status or 'no answer'}: {text}"

    def schedule_id(self) -> str:
        """The id in the body; empty if there is none."""
        try:
            return str(json.loads(self.body).get("scheduleId", ""))
        except (ValueError, AttributeError):
            return ""


def post(wanted: Wanted, *, key: str = "", group: str = "") -> Call:
    """POST /schedules, with an idempotency key or in a group if they are given."""
    content = {**schedule_of(wanted), **({"group": group} if group else {})}
    headers = {"Idempotency-Key": key} if key else {}
    return with_json("POST", "/schedules", content, 201, headers)


def get(schedule_id: str) -> Call:
    """GET /schedules/{id}."""
    return Call(method="GET", path=f"/schedules/{schedule_id}", expected=200)


def delete(schedule_id: str) -> Call:
    """DELETE /schedules/{id}."""
    return Call(method="DELETE", path=f"/schedules/{schedule_id}", expected=200)


def patch(schedule_id: str, due: int) -> Call:
    """PATCH /schedules/{id}: another point in time."""
    return with_json("PATCH", f"/schedules/{schedule_id}", {"pointInTime": instant(due)}, 200)


def put(name: str, wanted: Wanted, *, replaces: bool) -> Call:
    """PUT /schedules/by-name/{name}: 200 if it takes the place of another, else 201."""
    return with_json("PUT", f"/schedules/by-name/{name}", schedule_of(wanted), 200 if replaces else 201)


def page(group: str, limit: int) -> Call:
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


def schedule_of(wanted: Wanted) -> dict[str, Any]:
    """The body of a schedule."""
    action = {"type": "http-request", "method": "POST", "url": wanted.target}
    return {"pointInTime": instant(wanted.due), "action": action, "payload": {"benchmark": True}}


def instant(due: int) -> str:
    """Epoch milliseconds as the API takes them."""
    return datetime.fromtimestamp(due / 1000, UTC).isoformat(timespec="milliseconds")
