"""Scheduled rules of event buses: their events, paths and templates, and API destinations."""

from typing import Any

import pytest
from msgspec.structs import replace

from delayer_client.eventbridge.mapping.outcome import Left, Options, Request
from delayer_client.eventbridge.reading.sources import Found
from delayer_client.eventbridge.translating import translate_rule
from tests.client.eventbridge.samples import (
    BUS,
    CONNECTION,
    DESTINATION,
    NOW,
    PLACE,
    QUEUE,
    TOPIC,
    a_rule,
    an_api_destination,
    moved_rule,
    notes_of,
    why_no_rule,
)

STARS: dict[str, Any] = {"HttpParameters": {"PathParameterValues": ["a/b"]}}
EVENT = {
    "version": "0",
    "detail-type": "Scheduled Event",
    "source": "aws.events",
    "account": "123456789012",
    "time": "<delayer.occurrence.time>",
    "region": "eu-west-1",
    "resources": [f"arn:aws:events:{PLACE}:rule/nightly"],
    "detail": {},
}


def test_a_rule_is_a_series_in_utc() -> None:
    body = moved_rule(a_rule(Input='{"order": 17}'))
    assert body["repeat"] == {"cron": "cron(0 20 * * ? *)", "timeZone": "UTC"}
    assert body["tags"] == {"eventbridge": f"arn:aws:events:{PLACE}:rule/nightly#one"}
    assert body["payload"] == {"order": 17}


def test_each_target_is_a_series() -> None:
    rule = a_rule()
    [one] = rule.targets or ()
    rule = replace(rule, targets=(one, replace(one, id="two", arn=TOPIC), replace(one, id="three", arn=BUS)))
    items = translate_rule(rule, Found(), Options(now=NOW))
    assert [one.name for one in items if isinstance(one, Request)] == ["rule:nightly:one", "rule:nightly:two"]
    assert [one.source.target_id for one in items if isinstance(one, Left)] == ["three"]


@pytest.mark.parametrize(
    ("target", "payload"),
    [
        ({}, EVENT),
        ({"InputPath": "$.detail"}, {}),
        ({"InputPath": "$.time"}, "<delayer.occurrence.time>"),
        ({"InputPath": "$['detail-type']"}, "Scheduled Event"),
        ({"InputPath": "$.resources[0]"}, f"arn:aws:events:{PLACE}:rule/nightly"),
        (
            {
                "InputTransformer": {
                    "InputPathsMap": {"t": "$.time", "r": "$.resources"},
                    "InputTemplate": '{"t": <t>, "r": <r>}',
                }
            },
            {"t": "<delayer.occurrence.time>", "r": [f"arn:aws:events:{PLACE}:rule/nightly"]},
        ),
        (
            {
                "InputTransformer": {
                    "InputPathsMap": {"t": "$.region"},
                    "InputTemplate": '"\\"<t>\\" of <aws.events.rule-name>"',
                }
            },
            '"eu-west-1" of nightly',
        ),
        ({"InputTransformer": {"InputTemplate": '{"by": "<aws.events.rule-arn>"}'}}, {"by": EVENT["resources"][0]}),  # type: ignore[index]
    ],
)
def test_what_a_rule_sends_is_worked_out(target: dict[str, Any], payload: Any) -> None:
    assert moved_rule(a_rule(**target))["payload"] == payload


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"InputPath": "$.id"}, "made by EventBridge when the rule fires"),
        ({"InputPath": "$.detail.order"}, "leads nowhere"),
        ({"InputPath": "$.resources[7]"}, "leads nowhere"),
        ({"InputPath": "$.resources[*]"}, "is not understood from character 12 on"),
        ({"InputPath": "time"}, "is no JSON path"),
        ({"InputTransformer": {"InputTemplate": '{"e": <aws.events.event.json>}'}}, "<aws.events.event.json>"),
        ({"InputTransformer": {"InputTemplate": '{"e": <other>}'}}, "which its paths do not name"),
        ({"InputTransformer": {"InputPathsMap": {"d": "$.detail"}, "InputTemplate": '"<d>"'}}, "an object or a list"),
        ({"InputTransformer": {"InputTemplate": "nightly report"}}, "it is not JSON"),
        ({"Input": '"<delayer.occurrence.time>"'}, "placeholder of Delayer's"),
    ],
)
def test_what_cannot_be_worked_out(target: dict[str, Any], said: str) -> None:
    assert said in why_no_rule(a_rule(**target))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"schedule_expression": "", "event_pattern": "{}"},
            "the rule waits for events, and Delayer for points in time",
        ),
        ({"event_pattern": "{}"}, "give it a rule of its own"),
        ({"managed_by": "scheduler.amazonaws.com"}, "scheduler.amazonaws.com has made the rule"),
        ({"state": "DISABLED"}, "it is disabled"),
        ({"targets": None}, "aws events list-targets-by-rule --rule=nightly"),
        ({"targets": ()}, "it has no target"),
        ({"schedule_expression": "at(2027-01-01T00:00:00)"}, "is not cron(…)"),
        ({"arn": ""}, "was not read"),
    ],
)
def test_a_rule_that_is_left(changes: dict[str, Any], said: str) -> None:
    assert said in why_no_rule(replace(a_rule(), **changes))


def test_an_event_bus_gets_no_event_of_aws() -> None:
    assert "which only AWS may put" in why_no_rule(a_rule(BUS))


def test_an_api_destination_is_a_request_with_a_connection() -> None:
    parameters = {
        "PathParameterValues": ["a/b"],
        "QueryStringParameters": {"q": "1 2"},
        "HeaderParameters": {"X-Team": "billing", "X-Api-Key": "not sent"},
    }
    body = moved_rule(a_rule(DESTINATION, HttpParameters=parameters), an_api_destination())
    assert body["action"] == {
        "type": "http-request",
        "url": "https://api.example.com/orders/a%2Fb/notes?q=1+2",
        "method": "POST",
        "connection": "crm-key",
        "headers": {"X-Team": "billing"},
    }
    [item] = translate_rule(a_rule(DESTINATION, **STARS), an_api_destination(), Options(now=NOW))
    said = notes_of(item)["ConnectionArn"]
    made = "make the connection crm-key first, of the type api-key, with api.example.com among its hosts"
    assert said.startswith(f"{made}, headerName X-Api-Key")


def test_what_a_connection_adds_is_added() -> None:
    added = {"HeaderParameters": [{"Key": "X-A", "Value": "1"}], "QueryStringParameters": [{"Key": "q", "Value": "2"}]}
    found = an_api_destination(AuthorizationType="BASIC", AuthParameters={"InvocationHttpParameters": added})
    action = moved_rule(a_rule(DESTINATION, **STARS), found)["action"]
    assert action["headers"] == {"X-A": "1"}
    assert action["url"].endswith("?q=2")


@pytest.mark.parametrize(
    ("connection", "target", "said"),
    [
        ({}, {}, "the endpoint has 1 stars, and there are 0 values"),
        ({}, {"HttpParameters": {"PathParameterValues": ["$.detail.id"]}}, "taken from the event by a path"),
        (
            {},
            {"HttpParameters": {"PathParameterValues": ["a"], "HeaderParameters": {"Host": "h"}}},
            "no such header: Host",
        ),
        ({"AuthorizationType": "SIGV4"}, STARS, "no connection of the type SIGV4"),
        ({"InvocationConnectivityParameters": {"ResourceParameters": {}}}, STARS, "a private API"),
        (
            {
                "AuthParameters": {
                    "InvocationHttpParameters": {"HeaderParameters": [{"Key": "X", "IsValueSecret": True}]}
                }
            },
            STARS,
            "secrets that AWS does not show: X",
        ),
        ({"AuthParameters": {"InvocationHttpParameters": {"BodyParameters": [{"Key": "b"}]}}}, STARS, "to the body"),
    ],
)
def test_an_api_destination_that_is_left(connection: dict[str, Any], target: dict[str, Any], said: str) -> None:
    assert said in why_no_rule(a_rule(DESTINATION, **target), an_api_destination(**connection))


def test_an_api_destination_that_was_not_read() -> None:
    assert "aws events describe-api-destination" in why_no_rule(a_rule(DESTINATION))
    found = an_api_destination()
    assert "aws events describe-connection" in why_no_rule(a_rule(DESTINATION), Found(destinations=found.destinations))
    [destination] = found.destinations.values()
    nowhere = {DESTINATION: replace(destination, connection_arn="nowhere")}
    assert "prints nowhere" in why_no_rule(a_rule(DESTINATION), Found(destinations=nowhere))
    headless = Found(
        destinations={DESTINATION: replace(destination, http_method="HEAD")}, connections=found.connections
    )
    assert "http-request has no HEAD" in why_no_rule(a_rule(DESTINATION, **STARS), headless)
    plain = replace(destination, invocation_endpoint="http://api.example.com/*")
    assert "no such URL" in why_no_rule(a_rule(DESTINATION, **STARS), replace(found, destinations={DESTINATION: plain}))


def test_the_samples_belong_together() -> None:
    assert an_api_destination().destinations[DESTINATION].connection_arn == CONNECTION
    assert moved_rule(a_rule(QUEUE))
