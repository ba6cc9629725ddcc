"""The alarms of the stack, and who hears them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from delayer_client.operator.doctor.facts import Alarm, AlarmFacts
from delayer_client.operator.doctor.gather.seeing import seen
from delayer_client.operator.stack import OperatorStack

AT_ONCE: Final = 100  # names in one call
FIRST_DATA: Final = timedelta(minutes=20)  # until the first far canary of a new stack has arrived, and is counted


def look(stack: OperatorStack, now: datetime) -> AlarmFacts:
    """Their states, and the confirmed subscriptions of the topic."""
    return AlarmFacts(
        alarms=seen("cloudwatch:DescribeAlarms", lambda: alarms(stack, now)),
        subscribers=seen("sns:ListSubscriptionsByTopic", lambda: subscribers(stack)),
        is_local=stack.is_local,
    )


def alarms(stack: OperatorStack, now: datetime) -> Sequence[Alarm]:
    """By the names of the stack's resources."""
    named = {one.physical_id: one.logical_id for one in stack.resources_of("AWS::CloudWatch::Alarm")}
    keys, cloudwatch = list(named), stack.client("cloudwatch")
    found: list[Alarm] = []
    for begin in range(0, len(keys), AT_ONCE):
        some = keys[begin : begin + AT_ONCE]
        answer = cloudwatch.describe_alarms(AlarmNames=some, MaxRecords=AT_ONCE)
        found += [
            _alarm(named[one["AlarmName"]], one, None if stack.is_local else now) for one in answer["MetricAlarms"]
        ]
    return found


def _alarm(name: str, described: dict[str, Any], now: datetime | None) -> Alarm:
    """Without `now`, it may have no data for ever: on one machine nobody writes metrics of AWS."""
    since: datetime | None = described.get("StateUpdatedTimestamp")
    without_data = described["StateValue"] == "INSUFFICIENT_DATA" and bool(described.get("InsufficientDataActions"))
    return Alarm(
        name=name,
        state=described["StateValue"],
        description=described.get("AlarmDescription", ""),
        reason=described.get("StateReason", ""),
        since=since.isoformat() if since else "",
        is_silent=bool(without_data and since and now and now - since > FIRST_DATA),
        is_enabled=described.get("ActionsEnabled", True),
        topics=tuple(described.get("AlarmActions", ())),
    )


def subscribers(stack: OperatorStack) -> int:
    """Of the alarm topic, that have confirmed: others have no ARN."""
    topic = stack.outputs["AlarmTopic"]
    pages = stack.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
    return sum(one["SubscriptionArn"].startswith("arn:") for page in pages for one in page["Subscriptions"])
