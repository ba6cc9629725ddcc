"""How people write a target, and what it becomes in rows."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.flow.rules.block import EVERY, LONGEST_SHOWN, party_of
from delayer.flow.words import NoTarget, target_written
from tests.samples import a_schedule

FAIR_BY = {"http-request": "host:url", "sqs-send": "queueUrl", "slack-post": "host:webhookUrl", "canary": ""}
FAIR_BY["lambda-invoke"] = "functionArn"
QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs"
FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:report"


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("", EVERY),
        ("  ", EVERY),
        ("api.example.com", "http-request api.example.com"),
        (" API.Example.COM. ", "http-request api.example.com"),
        ("api.example.com:8443", "http-request api.example.com:8443"),
        ("api.example.com:443", "http-request api.example.com"),
        ("api.example.com:80", "http-request api.example.com"),
        ("api.example.com:0443", "http-request api.example.com"),
        ("api.example.com:08443", "http-request api.example.com:8443"),
        ("https://api.example.com", "http-request api.example.com"),
        ("https://api.example.com:0443/", "http-request api.example.com"),
        ("http://api.example.com:443/", "http-request api.example.com:443"),
        ("localhost:9000", "http-request localhost:9000"),
        ("10.0.0.1", "http-request 10.0.0.1"),
        ("[::1]:9000", "http-request [::1]:9000"),
        ("b\u00fccher.example", "http-request xn--bcher-kva.example"),
        ("http-request api.example.com", "http-request api.example.com"),
        ("http-request http://api.example.com:8080/", "http-request api.example.com:8080"),
        ("slack-post hooks.slack.com", "slack-post hooks.slack.com"),
        ("sqs-send https://sqs.eu-west-1.amazonaws.com/1/a b", "sqs-send https://sqs.eu-west-1.amazonaws.com/1/a b"),
        (f"sqs-send {QUEUE}", f"sqs-send {QUEUE}"),
        ("sqs-send arn:aws:sqs:eu-west-1:123456789012:jobs", f"sqs-send {QUEUE}"),
        (f"lambda-invoke {FUNCTION}", f"lambda-invoke {FUNCTION}"),
        ("canary", "canary"),
    ],
)
def test_what_is_written_becomes_what_rows_have(text: str, target: str) -> None:
    assert target_written(text, FAIR_BY) == target


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sqs-send", "sqs-send has many targets: give the one that is meant, as 'sqs-send QUEUEURL'"),
        ("canary near", "all schedules of the type canary have one target: give 'canary' alone"),
        (
            "sms-send x",
            "there is no action type 'sms-send'; the types are canary, http-request, lambda-invoke, ",
        ),
        ("api.example.com/hook", "is no host; give one like api.example.com or api.example.com:8443"),
        ("*.example.com", "is no host"),
        ("http-request user@example.com", "is no host"),
        ("http-request a b", "is no host"),
        ("ftp://example.com", "is no host"),
        ("example.com:port", "is no host"),
        ("..", "is no host"),
        (
            "https://api.example.com/hook?x=1",
            "a target is a host with all its paths: to say so, give api.example.com instead of "
            "'https://api.example.com/hook?x=1'",
        ),
        ("http-request http://api.example.com:81/a", "give api.example.com:81 instead of"),
        ("https://api.example.com?x", "give api.example.com instead of"),
        ("https://me@api.example.com/", "give api.example.com instead of"),
        (
            f"lambda-invoke {FUNCTION}:live",
            f"a target is a function with all its versions and aliases: give {FUNCTION} instead of '{FUNCTION}:live'",
        ),
        (f"lambda-invoke {FUNCTION}:$LATEST", f"give {FUNCTION} instead of"),
    ],
)
def test_what_names_no_target_is_refused_with_what_does(text: str, says: str) -> None:
    with pytest.raises(NoTarget) as raised:
        target_written(text, FAIR_BY)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"url": "https://API.example.com/"}, "http-request"),
        ({"url": "http://api.example.com:81"}, "http-request"),
        ({"functionArn": FUNCTION}, "lambda-invoke"),
        ({"queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/" + "q" * LONGEST_SHOWN}, "sqs-send"),
        ({"webhookUrl": "https://hooks.slack.com"}, "slack-post"),
        ({}, "canary"),
    ],
)
def test_the_target_of_a_schedule_can_be_written_as_it_is_shown(fields: dict[str, str], kind: str) -> None:
    schedule = a_schedule(action=json.dumps({"type": kind, **fields}))
    target = party_of(schedule, FAIR_BY[kind]).target
    assert target_written(target, FAIR_BY) == target
    [resource] = fields.values() or [""]
    assert target_written(f"{kind} {resource}", FAIR_BY) == target


@given(st.text())
def test_whatever_is_written_it_is_a_target_or_refused(text: str) -> None:
    try:
        target = target_written(text, FAIR_BY)
    except NoTarget:
        return
    assert target == EVERY or target.split(" ")[0] in FAIR_BY
    assert target_written(target, FAIR_BY) == target or target.endswith((":443", ":80"))
