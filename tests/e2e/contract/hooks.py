"""What the contract cannot say, told to schemathesis: a request that is to be accepted needs an instant that is near.

JSON Schema has no words for "at most 60 seconds ago", nor for "a cursor that you were given". And no made-up request is
to leave this machine: whatever is accepted is due after the tests.
"""

import base64
import re
import time
from typing import Any
from uuid import uuid4

import schemathesis

FAR = 3600  # seconds ahead
# JSON Schema has no words for what a rule of recurrence is. Each of them is rare enough for a relaxed series, too.
RULES: tuple[dict[str, Any], ...] = (
    {"cron": "0 9 * * MON-FRI", "timeZone": "Europe/Lisbon"},
    {"every": "PT36H", "onMissed": "once"},
    {"every": "P1M", "timeZone": "UTC", "anchor": "2026-12-31T09:00:00", "count": 100},
    {"cron": "cron(0 9 ? * 2-6 *)", "dst": {"gap": "shift", "overlap": "both"}},
)


@schemathesis.hook
def before_call(_context: schemathesis.HookContext, case: "schemathesis.Case[Any]", _kwargs: dict[str, Any]) -> None:
    """Only what was made to be accepted is mended; what was made to be refused stays as wrong as it is."""
    for request in _requests_in(case.body):
        _put_off(request)
    if case.meta and case.meta.generation.mode.is_positive:
        if "Idempotency-Key" in (case.headers or {}):
            case.headers["Idempotency-Key"] = uuid4().hex  # one that was used has another answer
        for request in _requests_in(case.body):
            _mend_body(request, case.path_parameters or {})
            _mend_action(request.get("action"))
            if request.get("hosts"):
                request["hosts"] = ["api.example.com", "*.example.com:*"]  # a pattern cannot say what names a host
            if case.operation.path.endswith("/test"):
                request["url"] = "https://nowhere.example.com/"  # a host that the connection names, if it names any
            if case.operation.path.startswith("/series"):
                _mend_series(request)
        _mend_query(case.query or {}, case.operation.path)


def _requests_in(body: Any) -> list[dict[str, Any]]:
    """The body, or those of a batch."""
    inner = body.get("schedules") if isinstance(body, dict) else None
    return [one for one in (inner if isinstance(inner, list) else [body]) if isinstance(one, dict)]


def _put_off(body: dict[str, Any]) -> None:
    delay = body.get("delaySeconds")
    if isinstance(delay, int | float) and 0 <= delay < FAR:
        body["delaySeconds"] = delay + FAR
    if isinstance(rule := body.get("repeat"), dict):
        rule.setdefault("from", _instant())


def _mend_body(body: dict[str, Any], path: dict[str, Any]) -> None:
    if isinstance(body.get("pointInTime"), str):
        body["pointInTime"] = _instant()
    elif "pointInTime" in body:
        body["pointInTime"] = time.time() + FAR
    if {"from", "until"} <= set(body):
        body |= {"from": _instant(-2 * FAR), "until": _instant(-FAR)}  # a range of the past
    if isinstance(rule := body.get("repeat"), dict):
        body["repeat"] = {**RULES[len(str(rule)) % len(RULES)], "from": _instant()}
    if isinstance(when := body.get("when"), dict):
        _mend_when(when)
    action = body.get("action")
    if ("payload" in body and not action) or (isinstance(action, dict) and action.get("type") == "event-put"):
        body["payload"] = {"made": "up"}  # an action, also the one that stands, may want an object: see GET /actions
    if "name" in body and "name" in path:
        body["name"] = path["name"]


def _mend_action(action: Any) -> None:
    """A connection that is named has to be there."""
    if isinstance(action, dict):
        action.pop("connection", None)


def _mend_series(body: dict[str, Any]) -> None:
    """A window and a precision have to suit the rule. What is changed may have any rule, so it gets a new one."""
    if body.get("window") or body.get("precision"):
        body.setdefault("repeat", {**RULES[0], "from": _instant()})
    if "seconds" in (body.get("window") or {}):
        body["window"]["seconds"] = 600  # shorter than the interval of each of the RULES


def _mend_when(when: dict[str, Any]) -> None:
    """The formats `time-zone` and `hours` are Delayer's own, so that what is made up for them is any text."""
    if "timeZone" in when:
        when["timeZone"] = "Europe/Lisbon"
    if isinstance(when.get("hours"), dict):
        when["hours"] = {day: ["09:00-12:00", "13:00-17:30"] for day in when["hours"]}


def _mend_query(query: dict[str, Any], path: str) -> None:
    if path == "/series":
        query.pop("cursor", None)
    for bound in {"from", "to"} & set(query):
        query[bound] = _instant()
    if not re.fullmatch(r"1[0-9a-v]{47}", _decoded(str(query.get("cursor", "")))):
        query.pop("cursor", None)


def _decoded(cursor: str) -> str:
    try:
        return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError:
        return ""


def _instant(ahead: int = FAR) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))
