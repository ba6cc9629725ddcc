"""Schedules and rules as EventBridge has them, and what Delayer's API says of a request."""

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from delayer.accept.rules.admission import admit_named
from delayer.actions.rules.foreign import built_in
from delayer.series.rules.admission import admit_named_series
from delayer_client.eventbridge.mapping.outcome import Left, Options, Request, Translated
from delayer_client.eventbridge.reading.documents import shaped
from delayer_client.eventbridge.reading.sources import ApiDestination, Connection, Found, Rule, Schedule
from delayer_client.eventbridge.translating import translate_rule, translate_schedule

NOW: Final = datetime(2026, 11, 23, 13, 0, tzinfo=UTC)
REGION: Final = "eu-west-1"
ACCOUNT: Final = "123456789012"
PLACE: Final = f"{REGION}:{ACCOUNT}"
FUNCTION: Final = f"arn:aws:lambda:{PLACE}:function:delayer-target-orders"
QUEUE: Final = f"arn:aws:sqs:{PLACE}:delayer-target-orders"
QUEUE_URL: Final = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/delayer-target-orders"
TOPIC: Final = f"arn:aws:sns:{PLACE}:delayer-target-orders"
MACHINE: Final = f"arn:aws:states:{PLACE}:stateMachine:delayer-target-orders"
BUS: Final = f"arn:aws:events:{PLACE}:event-bus/delayer-target-orders"
DESTINATION: Final = f"arn:aws:events:{PLACE}:api-destination/crm/11111111-2222"
CONNECTION: Final = f"arn:aws:events:{PLACE}:connection/crm-key/33333333-4444"
UNIVERSAL: Final = "arn:aws:scheduler:::aws-sdk:"
ROLE: Final = f"arn:aws:iam::{ACCOUNT}:role/eventbridge"


def a_schedule(expression: str = "cron(0 9 ? * MON-FRI *)", arn: str = QUEUE, **changes: Any) -> Schedule:
    """`target` has further fields of the target; the others are of the schedule, all under AWS's names."""
    target = {"Arn": arn, "RoleArn": ROLE, "Input": '{"order": 17}', **changes.pop("target", {})}
    document = {
        "Name": "nightly",
        "GroupName": "default",
        "Arn": f"arn:aws:scheduler:{PLACE}:schedule/default/nightly",
        "ScheduleExpression": expression,
        "ScheduleExpressionTimezone": "UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "State": "ENABLED",
        "Target": target,
    }
    return shaped(document | changes, Schedule, "sample")


def a_rule(arn: str = QUEUE, expression: str = "cron(0 20 * * ? *)", **target: Any) -> Rule:
    document = {
        "Name": "nightly",
        "Arn": f"arn:aws:events:{PLACE}:rule/nightly",
        "EventBusName": "default",
        "ScheduleExpression": expression,
        "State": "ENABLED",
        "Targets": [{"Id": "one", "Arn": arn, **target}],
    }
    return shaped(document, Rule, "sample")


def an_api_destination(**connection: Any) -> Found:
    destination = {
        "ApiDestinationArn": DESTINATION,
        "Name": "crm",
        "ConnectionArn": CONNECTION,
        "InvocationEndpoint": "https://api.example.com/orders/*/notes",
        "HttpMethod": "POST",
        "InvocationRateLimitPerSecond": 300,
    }
    described = {
        "ConnectionArn": CONNECTION,
        "Name": "crm-key",
        "AuthorizationType": "API_KEY",
        "AuthParameters": {"ApiKeyAuthParameters": {"ApiKeyName": "X-Api-Key"}},
        **connection,
    }
    return Found(
        destinations={DESTINATION: shaped(destination, ApiDestination, "sample")},
        connections={CONNECTION: shaped(described, Connection, "sample")},
    )


def admitted(item: Request, now: datetime = NOW) -> None:
    """Delayer's own check of the body of a PUT by name. Raises Invalid."""
    admit = admit_named_series if item.kind == "series" else admit_named
    admit(item.body, item.name, int(now.timestamp() * 1000), built_in())


def requested(item: Translated, now: datetime = NOW) -> dict[str, Any]:
    """The body, after Delayer has looked at it."""
    assert isinstance(item, Request), item
    admitted(item, now)
    body: dict[str, Any] = msgspec.json.decode(item.body)
    return body


def moved(schedule: Schedule, **options: Any) -> dict[str, Any]:
    return requested(translate_schedule(schedule, Options(now=NOW, **options)))


def moved_rule(rule: Rule, found: Found = Found(), **options: Any) -> dict[str, Any]:  # noqa: B008 - frozen
    [item] = translate_rule(rule, found, Options(now=NOW, **options))
    return requested(item)


def left(item: Translated) -> str:
    """Why it cannot be moved."""
    assert isinstance(item, Left), item
    return f"{item.field}: {item.reason}"


def why_not(schedule: Schedule, **options: Any) -> str:
    return left(translate_schedule(schedule, Options(now=NOW, **options)))


def why_no_rule(rule: Rule, found: Found = Found(), **options: Any) -> str:  # noqa: B008 - frozen
    [item] = translate_rule(rule, found, Options(now=NOW, **options))
    return left(item)


def notes_of(item: Translated) -> dict[str, str]:
    """By their fields; of several about the same, all texts."""
    assert isinstance(item, Request), item
    found: dict[str, str] = {}
    for note in item.notes:
        found[note.field] = f"{found.get(note.field, '')} {note.text}".strip()
    return found
