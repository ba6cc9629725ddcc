"""The body of a POST: all that is right is kept byte for byte, all that is wrong is named."""

import importlib.util
import json
import re
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.accept.rules.admission import (
    MAX_AHEAD,
    MAX_BODY_BYTES,
    MAX_PAST,
    admit,
    admit_batch,
    check_payload,
    clients_types,
)
from delayer.accept.rules.request import ScheduleRequest
from delayer.actions.rules import foreign
from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.model import ActionType
from delayer.http.json_body import MAX_DEPTH, MAX_ERRORS
from delayer.http.problem import FieldError, Invalid, NotJson, TooLarge
from delayer.schedule.instants import format_instant
from delayer.schedule.schedule import check_json
from delayer.schedule.schedule_id import IdKind
from tests.openapi import openapi
from tests.samples import NOW

ROOT = Path(__file__).parents[4]
OPENAPI = openapi()
CONTRACT = ROOT / "shared/delayer/http/contract.json"

HTTP = {"type": "http-request", "url": "http://target/"}
QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-target-orders"
SQS = {"type": "sqs-send", "queueUrl": QUEUE}


def body(**fields: Any) -> bytes:
    return json.dumps({"delaySeconds": 90, "action": HTTP, **fields}).encode()


def http(**fields: Any) -> bytes:
    return body(action={**HTTP, **fields})


def sqs(**fields: Any) -> bytes:
    return body(action={**SQS, **fields})


def timed(point_in_time: Any) -> bytes:
    return json.dumps({"pointInTime": point_in_time, "action": HTTP}).encode()


def raw(text: str, value: str = "") -> bytes:
    """A body that no JSON library would write so."""
    return text.replace("ACTION", json.dumps(HTTP)).replace("VALUE", value).encode()


RETRY = {"maxAttempts": 100, "maxAgeSeconds": 1_209_600, "backoff": {"first": 86_400, "factor": 10, "max": 1_209_600}}
GOOD = {
    "a delay": (body(), NOW + 90_000),
    "no delay": (body(delaySeconds=0), NOW),
    "a fraction of a delay rounds up": (raw('{"delaySeconds": 0.00001, "action": ACTION}'), NOW + 1),
    "digits without end round up": (raw('{"delaySeconds": 1.00VALUE1, "action": ACTION}', "0" * 60), NOW + 1001),
    "a delay with an exponent": (raw('{"delaySeconds": 9e1, "action": ACTION}'), NOW + 90_000),
    "the longest delay": (body(delaySeconds=315_576_000), NOW + MAX_AHEAD),
    "RFC 3339": (timed("2026-11-21T09:00:00.250Z"), NOW + 250),
    "RFC 3339 finer than a millisecond": (timed("2026-11-21T09:00:00.2500001+00:00"), NOW + 251),
    "RFC 3339 with an offset": (timed("2026-11-21T10:00:01+01:00"), NOW + 1000),
    "epoch seconds": (timed(1_795_251_601), NOW + 1000),
    "epoch seconds with a fraction": (raw('{"pointInTime": 1795251600.25, "action": ACTION}'), NOW + 250),
    "epoch seconds that no float holds": (raw('{"pointInTime": 1795251600.0010, "action": ACTION}'), NOW + 1),
    "epoch seconds with an exponent": (raw('{"pointInTime": 1.795251600250000001E9, "action": ACTION}'), NOW + 251),
    "a minute ago": (timed(format_instant(NOW - MAX_PAST)), NOW - MAX_PAST),
    "in ten years": (timed(format_instant(NOW + MAX_AHEAD)), NOW + MAX_AHEAD),
    "all fields of http-request": (
        http(method="PUT", headers={"X-One": "1\t2 ~", "accept": ""}, timeoutSeconds=30),
        NOW + 90_000,
    ),
    "a URL with everything": (http(url="https://a.example-1_x:65535/a/b;c?d=e&f=%20#g"), NOW + 90_000),
    "a URL of an IPv6 address": (http(url="http://[::1]:8080?x"), NOW + 90_000),
    "a URL with a dot at last": (http(url="http://target.example.:1/"), NOW + 90_000),
    "a URL with a label of 63": (http(url="http://" + "a" * 63 + ".b/"), NOW + 90_000),
    "a URL of an IPv4 address": (http(url="http://10.0.0.1:8080"), NOW + 90_000),
    "a URL of a name only": (http(url="http://localhost"), NOW + 90_000),
    "a standard queue": (sqs(), NOW + 90_000),
    "a FIFO queue": (sqs(queueUrl=QUEUE + ".fifo", messageGroupId="order-17"), NOW + 90_000),
    "a retry policy": (body(retry=RETRY), NOW + 90_000),
    "a part of a retry policy": (body(retry={"backoff": {"factor": 1.5}}), NOW + 90_000),
    "a retry policy that is empty": (body(retry={}), NOW + 90_000),
    "a local queue": (sqs(queueUrl="http://127.0.0.1:4566/000000000000/q"), NOW + 90_000),
    "a delay next to an exponent of twenty digits": (
        raw('{"delaySeconds": 90, "action": ACTION, "payload": 1e99999999999999999999}'),
        NOW + 90_000,
    ),
    "white space and a field in Unicode escapes": (
        raw(' \n{"\\u0064elaySeconds" :\t90, "action": ACTION } \r\n'),
        NOW + 90_000,
    ),
    "the last of a field given twice": (
        raw('{"delaySeconds": "x", "delaySeconds": 90, "action": ACTION}'),
        NOW + 90_000,
    ),
}


@pytest.mark.parametrize("case", GOOD)
def test_admitted(case: str) -> None:
    given_body, point_in_time = GOOD[case]
    request = admit(given_body, NOW, built_in())
    assert request.point_in_time == point_in_time
    assert json.loads(request.definition.action) == json.loads(given_body)["action"]
    assert request.definition.action_type == json.loads(request.definition.action)["type"]


BAD: dict[str, tuple[bytes, list[str]]] = {
    "nothing": (b"{}", ["action", "pointInTime"]),
    "no action": (b'{"delaySeconds": 1}', ["action"]),
    "no time": (json.dumps({"action": HTTP}).encode(), ["pointInTime"]),
    "both times": (body(pointInTime=NOW // 1000), ["pointInTime"]),
    "an unknown field": (body(colour="blue"), ["colour"]),
    "two unknown fields": (body(b=1, a=2), ["a", "b"]),
    "a field in other letters": (body(Payload=1), ["Payload"]),
    "a delay that is text": (body(delaySeconds="90"), ["delaySeconds"]),
    "a delay that is nothing": (body(delaySeconds=None), ["delaySeconds"]),
    "a delay that is true": (body(delaySeconds=True), ["delaySeconds"]),
    "a delay that is a list": (body(delaySeconds=[90]), ["delaySeconds"]),
    "a delay below zero": (body(delaySeconds=-0.001), ["delaySeconds"]),
    "a delay over ten years": (body(delaySeconds=315_576_001), ["delaySeconds"]),
    "a delay just over ten years": (
        raw('{"delaySeconds": 315576000.0000000000000000000000000000000001, "action": ACTION}'),
        ["delaySeconds"],
    ),
    "a delay of thousands of digits": (
        raw('{"delaySeconds": VALUE, "action": ACTION}', "9" * 5000),
        ["delaySeconds"],
    ),
    "a delay with an exponent of twenty digits": (
        raw('{"delaySeconds": 1e99999999999999999999, "action": ACTION}'),
        ["delaySeconds"],
    ),
    "a delay with a large exponent": (raw('{"delaySeconds": 1e1000001, "action": ACTION}'), ["delaySeconds"]),
    "a time that is no time": (timed("tomorrow"), ["pointInTime"]),
    "a time without an offset": (timed("2026-11-21T09:00:00"), ["pointInTime"]),
    "a date": (timed("2026-11-21"), ["pointInTime"]),
    "a thirtieth of February": (timed("2027-02-30T00:00:00Z"), ["pointInTime"]),
    "a time with a line feed": (timed("2026-11-21T09:00:00Z\n"), ["pointInTime"]),
    "a time of endless digits": (timed("2026-11-21T09:00:00." + "0" * 64 + "Z"), ["pointInTime"]),
    "a time that is nothing": (timed(None), ["pointInTime"]),
    "a time that is false": (timed(False), ["pointInTime"]),
    "a time that is an object": (timed({}), ["pointInTime"]),
    "a time over a minute ago": (timed(format_instant(NOW - MAX_PAST - 1)), ["pointInTime"]),
    "a time over ten years ahead": (timed(format_instant(NOW + MAX_AHEAD + 1)), ["pointInTime"]),
    "milliseconds for seconds": (timed(NOW), ["pointInTime"]),
    "epoch seconds of thousands of digits": (timed(10**4000), ["pointInTime"]),
    "epoch seconds with a large exponent": (raw('{"pointInTime": 1e1000001, "action": ACTION}'), ["pointInTime"]),
    "epoch seconds with an exponent of twenty digits": (
        raw('{"pointInTime": -1e99999999999999999999, "action": ACTION}'),
        ["pointInTime"],
    ),
    "the year one": (timed("0001-01-01T00:00:00+23:59"), ["pointInTime"]),
    "the year 9999": (timed("9999-12-31T23:59:59-23:59"), ["pointInTime"]),
    "an action that is text": (body(action="http-request"), ["action"]),
    "an action that is a list": (body(action=[]), ["action"]),
    "an action that is nothing": (body(action=None), ["action"]),
    "an action without a type": (body(action={"url": "http://target/"}), ["action.type"]),
    "an unknown action": (body(action={"type": "email"}), ["action.type"]),
    "an action of no text": (body(action={"type": ["http-request"]}), ["action.type"]),
    "an unknown field in the action": (http(colour="blue"), ["action.colour"]),
    "the field of another action": (http(queueUrl=QUEUE), ["action.queueUrl"]),
    "a method unknown": (http(method="TRACE"), ["action.method"]),
    "a method in small letters": (http(method="post"), ["action.method"]),
    "no URL": (body(action={"type": "http-request"}), ["action.url"]),
    "a URL that is a number": (http(url=1), ["action.url"]),
    "a URL that is empty": (http(url=""), ["action.url"]),
    "a URL of another scheme": (http(url="ftp://target/"), ["action.url"]),
    "a URL of a file": (http(url="file:///etc/passwd"), ["action.url"]),
    "a URL with a user": (http(url="http://user:password@target/"), ["action.url"]),
    "a URL with a space": (http(url="http://target/a b"), ["action.url"]),
    "a URL with a line feed": (http(url="http://target/\n"), ["action.url"]),
    "a URL with a header in it": (http(url="http://target/ HTTP/1.1\r\nX: y"), ["action.url"]),
    "a URL with an umlaut": (http(url="http://t\u00e4rget/"), ["action.url"]),
    "a URL with a port of six digits": (http(url="http://target:123456/"), ["action.url"]),
    "a URL with port 0": (http(url="http://target:0/"), ["action.url"]),
    "a URL with a port too high": (http(url="http://target:65536/"), ["action.url"]),
    "a URL with two dots": (http(url="http://a..b/"), ["action.url"]),
    "a URL with a dot at first": (http(url="http://.b/"), ["action.url"]),
    "a URL with a hyphen at first": (http(url="http://-a/"), ["action.url"]),
    "a URL with a label of 64": (http(url="http://" + "a" * 64 + "/"), ["action.url"]),
    "a URL without a host": (http(url="http:///path"), ["action.url"]),
    "a URL that is relative": (http(url="/path"), ["action.url"]),
    "a URL too long": (http(url="http://target/" + "x" * 2048), ["action.url"]),
    "headers that are a list": (http(headers=["X: y"]), ["action.headers"]),
    "a header that is a number": (http(headers={"X": 1}), ["action.headers.X"]),
    "a header with a line feed": (http(headers={"X": "a\nb"}), ["action.headers.X"]),
    "a header that ends with a line feed": (http(headers={"X": "a\n"}), ["action.headers.X"]),
    "a header that is too long": (http(headers={"X": "a" * 4097}), ["action.headers.X"]),
    "a header with an umlaut": (http(headers={"X": "\u00e4"}), ["action.headers.X"]),
    "a header name with a line feed": (http(headers={"X\n": "a"}), ["action.headers.X\n"]),
    "a header name with a colon": (http(headers={"X:": "a"}), ["action.headers.X:"]),
    "a header name that is empty": (http(headers={"": "a"}), ["action.headers."]),
    "the header Host": (http(headers={"host": "a"}), ["action.headers.host"]),
    "the header Content-Length": (http(headers={"CONTENT-length": "1"}), ["action.headers.CONTENT-length"]),
    "the header Transfer-Encoding": (http(headers={"Transfer-Encoding": "x"}), ["action.headers.Transfer-Encoding"]),
    "the header Idempotency-Key": (http(headers={"idempotency-key": "x"}), ["action.headers.idempotency-key"]),
    "a header of Delayer's": (http(headers={"delayer-attempt": "x"}), ["action.headers.delayer-attempt"]),
    "too many headers": (http(headers={f"X-{at}": "a" for at in range(51)}), ["action.headers"]),
    "a timeout of nothing": (http(timeoutSeconds=0), ["action.timeoutSeconds"]),
    "a timeout too long": (http(timeoutSeconds=31), ["action.timeoutSeconds"]),
    "a timeout with a fraction": (http(timeoutSeconds=1.5), ["action.timeoutSeconds"]),
    "a timeout that is true": (http(timeoutSeconds=True), ["action.timeoutSeconds"]),
    "attempts of the action": (http(maxAttempts=3), ["action.maxAttempts"]),
    "attempts of the other action": (sqs(maxAttempts="x"), ["action.maxAttempts"]),
    "a retry policy that is a number": (body(retry=3), ["retry"]),
    "no attempts": (body(retry={"maxAttempts": 0}), ["retry.maxAttempts"]),
    "too many attempts": (body(retry={"maxAttempts": 101}), ["retry.maxAttempts"]),
    "half an attempt": (body(retry={"maxAttempts": 1.5}), ["retry.maxAttempts"]),
    "no age": (body(retry={"maxAgeSeconds": 0}), ["retry.maxAgeSeconds"]),
    "an age of more than 14 days": (body(retry={"maxAgeSeconds": 1_209_601}), ["retry.maxAgeSeconds"]),
    "an unknown field of a retry policy": (body(retry={"attempts": 3}), ["retry.attempts"]),
    "a backoff that is a number": (body(retry={"backoff": 5}), ["retry.backoff"]),
    "no first delay": (body(retry={"backoff": {"first": 0}}), ["retry.backoff.first"]),
    "a first delay of more than a day": (body(retry={"backoff": {"first": 86_401}}), ["retry.backoff.first"]),
    "a first delay with a fraction": (body(retry={"backoff": {"first": 1.5}}), ["retry.backoff.first"]),
    "a factor below one": (body(retry={"backoff": {"factor": 0.99}}), ["retry.backoff.factor"]),
    "a factor above ten": (body(retry={"backoff": {"factor": 10.01}}), ["retry.backoff.factor"]),
    "a longest delay of more than 14 days": (body(retry={"backoff": {"max": 1_209_601}}), ["retry.backoff.max"]),
    "an unknown field of a backoff": (body(retry={"backoff": {"min": 1}}), ["retry.backoff.min"]),
    "no queue": (body(action={"type": "sqs-send"}), ["action.queueUrl"]),
    "a queue by its name": (sqs(queueUrl="orders"), ["action.queueUrl"]),
    "a queue with a line feed": (sqs(queueUrl=QUEUE + "\n"), ["action.queueUrl"]),
    "a FIFO queue without a group": (sqs(queueUrl=QUEUE + ".fifo"), ["action.messageGroupId"]),
    "a group that is empty": (sqs(queueUrl=QUEUE + ".fifo", messageGroupId=""), ["action.messageGroupId"]),
    "a group with a line feed": (sqs(queueUrl=QUEUE + ".fifo", messageGroupId="a\n"), ["action.messageGroupId"]),
    "three at once": (
        body(delaySeconds="x", colour=1, action={**HTTP, "method": "x"}),
        ["action.method", "colour", "delaySeconds"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_refused_with_each_wrong_field_named(case: str) -> None:
    given_body, fields = BAD[case]
    with pytest.raises(Invalid) as caught:
        admit(given_body, NOW, built_in())
    errors = caught.value.errors
    assert sorted({error.field for error in errors}) == sorted(fields)
    assert all(error.problem for error in errors)
    assert all(error.allowed for error in errors), "and what is allowed is said"
    assert all(len(error.problem) < 200 for error in errors)


def test_there_are_enough_bad_bodies() -> None:
    assert len(BAD) >= 40


@pytest.mark.parametrize(
    "given_body",
    [
        b"",
        b" ",
        b"null",
        b"[]",
        b"1",
        b'"text"',
        b"{",
        b"{}}",
        b'{"a":}',
        b"{'a': 1}",
        b'{"a": 1,}',
        b'{"a": 01}',
        b'{"a": NaN}',
        b'{"payload": Infinity}',
        b'{"a": "\xff"}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"payload": {"a": }}',
        b'{"payload": "\n"}',
        b'{"payload": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"payload": ' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}",
    ],
    ids=lambda given_body: repr(given_body[:20]),
)
def test_what_is_no_json_object_is_refused_as_a_whole(given_body: bytes) -> None:
    with pytest.raises(NotJson, match=r"must be a JSON object in UTF-8: ."):
        admit(given_body, NOW, built_in())


def test_what_is_no_text_at_all_is_said_to_be_no_utf8() -> None:
    """Also if it is no JSON, either: the encoding is what its client has to mend first."""
    with pytest.raises(NotJson, match="'utf-8' codec can't decode byte 0xff"):
        admit(b"\xff{", NOW, built_in())


def test_the_size_limit() -> None:
    empty = len(body(payload=""))
    assert admit(body(payload="x" * (MAX_BODY_BYTES - empty)), NOW, built_in())
    with pytest.raises(TooLarge, match="262,145 bytes; at most 262,144"):
        admit(body(payload="x" * (MAX_BODY_BYTES - empty + 1)), NOW, built_in())


@pytest.mark.parametrize(
    ("more", "kind"),
    [({}, IdKind.PLAIN), ({"precision": "precise"}, IdKind.PLAIN), ({"precision": "relaxed"}, IdKind.RELAXED)],
)
def test_the_lane_is_the_clients_choice(more: dict[str, Any], kind: IdKind) -> None:
    """No part of the definition: the id tells it."""
    request = admit(body(**more), NOW, built_in())
    assert request.kind is kind
    assert request.definition == admit(body(), NOW, built_in()).definition


@pytest.mark.parametrize("precision", ["", "Relaxed", "minute", 1, None, True])
def test_there_is_no_third_lane(precision: Any) -> None:
    with pytest.raises(Invalid) as refused:
        admit(body(precision=precision), NOW, built_in())
    assert {error.field for error in refused.value.errors} == {"precision"}
    assert "relaxed" in refused.value.errors[-1].allowed


@pytest.mark.parametrize(
    ("deployed", "allowed"),
    [
        (("next-business-hour",), "next-business-hour"),
        ((), "this stack has no policy; its operators can add some, by the parameter Policies"),
        (("of another release",), "this stack has no policy; its operators can add some, by the parameter Policies"),
    ],
)
def test_a_policy_that_the_stack_does_not_have_is_refused(deployed: tuple[str, ...], allowed: str) -> None:
    """Else nobody would ever decide its time. Those that are not named are all of this release."""
    asked = raw('{"when": {"policy": "spread", "seconds": 60}, "action": ACTION}')
    for known in (None, ("spread",), (*deployed, "spread")):
        assert admit(asked, NOW, built_in(), known).definition.when
    with pytest.raises(Invalid) as refused:
        admit(asked, NOW, built_in(), deployed)
    [error] = refused.value.errors
    assert (error.field, error.problem, error.allowed) == ("when.policy", 'not allowed: "spread"', allowed)


def test_a_lane_that_the_stack_does_not_have_is_refused() -> None:
    """Else nothing would ever fire it. Those that are not named are all of this release."""
    asked = body(precision="relaxed")
    for lanes in (None, ("relaxed",), ("relaxed", "of another release")):
        assert admit(asked, NOW, built_in(), lanes=lanes).kind is IdKind.RELAXED
    for without in ((), ("of another release",)):
        with pytest.raises(Invalid) as refused:
            admit(asked, NOW, built_in(), lanes=without)
        [error] = refused.value.errors
        assert (error.field, error.problem) == ("precision", 'not allowed: "relaxed"')
        assert error.allowed == (
            "precise: this stack has no relaxed lane; its operators can add it, by the parameter Lanes"
        )
        assert admit(body(precision="precise"), NOW, built_in(), lanes=without).kind is IdKind.PLAIN


def test_attempts_of_the_action_are_refused_with_where_they_belong() -> None:
    """They were there before schedules had a retry policy."""
    with pytest.raises(Invalid) as caught:
        admit(http(maxAttempts=3), NOW, built_in())
    [error] = caught.value.errors
    assert "retry.maxAttempts" in error.problem
    assert "unknown field" in error.problem
    assert "beside the action" in error.allowed


def test_a_retry_policy_is_kept_as_it_was_sent() -> None:
    assert json.loads(admit(body(retry=RETRY), NOW, built_in()).definition.retry) == RETRY
    assert admit(body(retry={}), NOW, built_in()).definition.retry == ""


def test_thousands_of_errors_are_cut_short() -> None:
    with pytest.raises(Invalid) as caught:
        admit(body(**{f"x{at}": 1 for at in range(5000)}), NOW, built_in())
    assert len(caught.value.errors) == MAX_ERRORS


def of_another_stack(payload: Any) -> dict[str, ActionType]:
    fields = {"type": {"const": "reports-add"}, "rows": {"items": {"type": "integer"}}}
    schema = {"type": "object", "required": ["type"], "additionalProperties": False, "properties": fields}
    action = ActionType(type="reports-add", schema=json.dumps(schema), payload=json.dumps(payload))
    foreign.check(action)
    return {"reports-add": action}


def test_a_payload_that_would_take_long_to_check_is_refused_unseen() -> None:
    """A schema of another stack can ask much of each value: a few kilobytes would take seconds."""
    branches = [{"minimum": number} for number in range(40)]
    actions = of_another_stack({"items": {"anyOf": [*branches, {"type": "integer"}]}})
    few, many = [-1] * 100, [-1] * 2_000
    assert admit(body(action={"type": "reports-add"}, payload=few), NOW, actions)
    with pytest.raises(Invalid) as caught:
        admit(body(action={"type": "reports-add"}, payload=many), NOW, actions)
    [error] = caught.value.errors
    assert (error.field, error.problem) == ("payload", "too many values to check")
    assert re.fullmatch(r"lists and objects with fewer values for reports-add: about \d\d% of these", error.allowed)
    with pytest.raises(Invalid):
        check_payload(actions["reports-add"], json.dumps(many))


def test_an_action_that_would_take_long_to_check_is_refused_unseen() -> None:
    actions = of_another_stack({})
    assert admit(body(action={"type": "reports-add", "rows": [1] * 1_000}, payload=1), NOW, actions)
    with pytest.raises(Invalid) as caught:
        admit(body(action={"type": "reports-add", "rows": [1] * 87_000}, payload=1), NOW, actions)
    assert [(error.field, error.problem) for error in caught.value.errors] == [("action", "too many values to check")]


def test_a_change_has_no_more_errors_than_a_new_schedule() -> None:
    actions = of_another_stack({"items": {"type": "string"}})
    with pytest.raises(Invalid) as caught:
        check_payload(actions["reports-add"], json.dumps([1] * 500))
    assert len(caught.value.errors) == MAX_ERRORS


def test_an_error_says_what_is_allowed() -> None:
    with pytest.raises(Invalid) as caught:
        admit(http(method="TRACE"), NOW, built_in())
    assert caught.value.errors == (
        FieldError(field="action.method", problem='not allowed: "TRACE"', allowed="DELETE, GET, PATCH, POST, PUT"),
    )
    with pytest.raises(Invalid, match="pointInTime: ") as caught:
        admit(timed(NOW), NOW, built_in())
    assert "milliseconds" in caught.value.errors[0].problem
    assert "2036-11-20T21:00:00.000Z" in caught.value.errors[0].allowed


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=8,
)
names = st.sampled_from(["pointInTime", "delaySeconds", "action", "payload", "retry"]) | st.text(max_size=5)
action_names = st.sampled_from(["type", "url", "method", "headers", "timeoutSeconds", "maxAttempts", "queueUrl"])
actions = st.dictionaries(action_names, json_values | st.sampled_from([*clients_types(built_in()), QUEUE, "http://a/"]))
retries = st.dictionaries(st.sampled_from(["maxAttempts", "maxAgeSeconds", "backoff"]), json_values)
requests = st.dictionaries(names, json_values | actions | retries)


def admitted(given_body: bytes) -> ScheduleRequest | None:
    """Never anything but the three refusals."""
    try:
        return admit(given_body, NOW, built_in())
    except (NotJson, TooLarge, Invalid):
        return None


@given(requests)
@example({"delaySeconds": 1, "action": {**HTTP, "headers": {"\ud800": "x"}}})
def test_no_json_is_more_than_refused(document: dict[str, Any]) -> None:
    """It takes some seconds: documents of all forms are made up."""
    admitted(json.dumps(document).encode())


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_are_more_than_refused(given_body: bytes) -> None:
    assert admitted(given_body) is None


@given(st.binary(max_size=3), st.integers(0, 200))
def test_no_damage_is_more_than_refused(damage: bytes, at: int) -> None:
    whole = http(headers={"X": "y"})
    admitted(whole[:at] + damage + whole[at + len(damage) :])


@pytest.mark.parametrize("depth", [10, 300, 480, 500, 900, 990, 1000, 1010, 5000])
@pytest.mark.parametrize("place", ["payload", "delaySeconds", "pointInTime", "action", "colour"])
def test_no_depth_is_more_than_refused(depth: int, place: str) -> None:
    document = raw('{"delaySeconds": 1, "action": ACTION, VALUE}', f'"{place}": {"[" * depth + "]" * depth}')
    request = admitted(document)
    assert request is None or place == "payload"
    if place == "payload":
        assert (request is not None) == (depth <= MAX_DEPTH)


def test_the_depth_of_a_payload_is_judged_by_itself_in_a_batch_too() -> None:
    """The batch adds levels around it. One that is too deep does not take the others along."""
    body_of = '{"delaySeconds": 1, "action": ACTION, "payload": VALUE}'
    fits, too_deep = (raw(body_of, "[" * depth + "]" * depth) for depth in (MAX_DEPTH, MAX_DEPTH + 1))
    one, other = admit_batch(b'{"schedules": [' + fits + b"," + too_deep + b"]}")
    assert admit(one, NOW, built_in()).definition.payload == "[" * MAX_DEPTH + "]" * MAX_DEPTH
    with pytest.raises(NotJson, match="nested more than 500 levels deep"):
        admit(other, NOW, built_in())


@pytest.mark.parametrize("level", ["[{0}]", '{{"a": {0}}}'])
def test_a_payload_that_was_admitted_can_be_read_in_a_deeper_function(level: str) -> None:
    """The executor's stack is not that of the API: what the API admitted must not be malformed there."""
    payload = "1"
    for _ in range(MAX_DEPTH):
        payload = level.format(payload)
    request = admitted(raw('{"delaySeconds": 1, "action": ACTION, "payload": VALUE}', payload))
    assert request
    definition = request.definition

    def check(depth: int) -> None:
        if depth:
            check(depth - 1)
        else:
            check_json(definition)

    check(200)


@pytest.mark.parametrize("pattern", ["a" * 2000, "a." * 1000, "a-" * 1000, "." * 2000, "[" + ":" * 2000, "1" * 2000])
def test_no_url_takes_long(pattern: str) -> None:
    """Neither does the pattern of the URL, which tries many ways to read one."""
    began = time.perf_counter()
    for url in (f"http://{pattern}", f"http://{pattern}!", f"http://a:{pattern}", f"http://a/{pattern} "):
        admitted(http(url=url))
    assert time.perf_counter() - began < 1


def test_a_payload_that_grows_too_large_by_its_escapes_is_refused() -> None:
    with pytest.raises(TooLarge, match="escaped"):
        admit(raw('{"payload": "VALUE", "delaySeconds": 1, "action": ACTION}', "\ufffe" * 80_000), NOW, built_in())


numbers = st.decimals(0, 10**8, allow_nan=False, allow_infinity=False, places=25)


@given(numbers)
def test_no_number_is_early(seconds: Decimal) -> None:
    """In any notation; never rounded down, never up by a millisecond or more."""
    for text in (f"{seconds:f}", f"{seconds:E}"):
        request = admit(raw('{"delaySeconds": VALUE, "action": ACTION}', text), NOW, built_in())
        assert 0 <= (request.point_in_time - NOW) - seconds * 1000 < 1


payloads = json_values.flatmap(
    lambda value: st.sampled_from(
        [
            json.dumps(value),
            json.dumps(value, indent=3),
            json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        ]
    )
).filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text) and "\\ud" not in text)


@given(payloads)
@example('{"b": 1, "a": 1.0, "a": 1e2, "\\u0061": -0}')
@example("123456789012345678901234567890.1234567890")
@example('"\\/ \\u00e4 ä \u2028 😀"')
@example("1e999999999")
def test_the_payload_is_kept_byte_for_byte(text: str) -> None:
    """Order, doubled names, number forms, escapes and white space: not ours to change."""
    request = admit(raw('{"payload" : VALUE , "delaySeconds": 1, "action": ACTION}', text), NOW, built_in())
    sendable = text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
    assert request.definition.payload == sendable
    if sendable == text:
        assert request.definition.payload.encode() == text.encode()


def test_characters_that_sqs_refuses_are_escaped() -> None:
    """The one exception to byte for byte: the same JSON, in characters that SQS takes."""
    request = admit('{"payload": "a\ufffeb\uffff", "delaySeconds": 1, "action": ACTION}'.replace(
        "ACTION", json.dumps(HTTP)).encode(), NOW, built_in())  # fmt: skip
    assert request.definition.payload == '"a\\ufffeb\\uffff"'
    assert json.loads(request.definition.payload) == "a\ufffeb\uffff"


def test_no_payload_is_not_the_payload_null() -> None:
    assert admit(body(), NOW, built_in()).definition.payload == ""
    assert admit(body(payload=None), NOW, built_in()).definition.payload == "null"


# ------------------------------------------------------------ the contract


def test_the_contract_is_that_of_openapi_yaml() -> None:
    """Made by `make contract`; the Lambdas carry no YAML parser."""
    spec = importlib.util.spec_from_file_location("contract", ROOT / "shared/contract.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert CONTRACT.read_text() == module.text()


def test_every_action_is_known() -> None:
    mapping = OPENAPI["components"]["schemas"]["Action"]["discriminator"]["mapping"]
    assert sorted(mapping) == clients_types(built_in())


EXAMPLES = OPENAPI["paths"]["/schedules"]["post"]["requestBody"]["content"]["application/json"]["examples"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_admitted(name: str) -> None:
    value = EXAMPLES[name]["value"]
    request = admit(json.dumps(value).encode(), NOW - 1000, built_in())
    assert json.loads(request.definition.action) == value["action"]
    assert json.loads(request.definition.payload) == value["payload"]


@pytest.mark.parametrize("name", ["pointInTime", "delaySeconds"])
def test_the_examples_of_each_field_are_admitted(name: str) -> None:
    for value in OPENAPI["components"]["schemas"]["ScheduleRequest"]["properties"][name]["examples"]:
        assert admit(json.dumps({name: value, "action": HTTP}).encode(), NOW, built_in())


def test_the_limits_in_words_are_the_limits() -> None:
    description = OPENAPI["paths"]["/schedules"]["post"]["requestBody"]["description"]
    assert f"{MAX_BODY_BYTES:,}" in description
    assert (
        OPENAPI["components"]["schemas"]["ScheduleRequest"]["properties"]["delaySeconds"]["maximum"] * 1000 == MAX_AHEAD
    )


@pytest.mark.parametrize(
    ("action", "field", "allowed"),
    [
        ({"type": "http-request", "url": "ftp://x"}, "action.url", "absolute http or https URL"),
        (
            {"type": "http-request", "url": "http://x", "headers": {"Host": "y"}},
            "action.headers.Host",
            "other than Host",
        ),
        (
            {"type": "http-request", "url": "http://x", "headers": {"A": "\u00e9"}},
            "action.headers.A",
            "printable ASCII",
        ),
        ({"type": "sqs-send", "queueUrl": "https://evil.example/123456789012/q"}, "action.queueUrl", "amazonaws.com"),
        (
            {"type": "sqs-send", "queueUrl": "http://sqs.eu-west-1.amazonaws.com/123456789012/q"},
            "action.queueUrl",
            "https",
        ),
    ],
)
def test_what_is_allowed_is_said_in_words(action: dict[str, Any], field: str, allowed: str) -> None:
    """Not as the regular expression that holds it."""
    with pytest.raises(Invalid) as raised:
        admit(json.dumps({"delaySeconds": 1, "action": action}).encode(), NOW, built_in())
    (error,) = raised.value.errors
    assert error.field == field
    assert allowed in error.allowed


def test_a_field_name_of_any_length_is_cut_short() -> None:
    """It would stand in the answer and in the log."""
    with pytest.raises(Invalid) as raised:
        admit(
            json.dumps({"delaySeconds": 1, "action": {"type": "sqs-send", "x" * 100_000: 1}}).encode(), NOW, built_in()
        )
    assert all(len(error.field) < 100 for error in raised.value.errors)


def test_an_offset_of_more_than_a_day_is_refused_in_words() -> None:
    body = {"pointInTime": "2026-11-22T09:00:00+25:00", "action": {"type": "http-request", "url": "http://x"}}
    with pytest.raises(Invalid) as raised:
        admit(json.dumps(body).encode(), NOW, built_in())
    assert [error.problem for error in raised.value.errors] == ["its offset is further than 23:59 from UTC"]
