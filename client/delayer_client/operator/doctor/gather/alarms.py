"""The alarms of the stack, and who hears them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from delayer_client.operator.doctor.facts import Alarm, AlarmFacts
from delayer_client.operator.doctor.gather.seeing import seen
from delayer_client.operator.stack import OperatorStack

AT_ONCE: Final = 100  # names in one call


def look(stack: OperatorStack, _: datetime) -> AlarmFacts:
    """Their states, and the confirmed subscriptions of the topic."""
    return AlarmFacts(
        alarms=seen("cloudwatch:DescribeAlarms", lambda: alarms(stack)),
        subscribers=seen("sns:ListSubscriptionsByTopic", lambda: subscribers(stack)),
        is_local=stack.is_local,
    )


def alarms(stack: OperatorStack) -> Sequence[Alarm]:
    """By the names of the stack's resources."""
    named = {one.physical_id: one.logical_id for one in stack.resources_of("AWS::CloudWatch::Alarm")}
    keys, cloudwatch = list(named), stack.client("cloudwatch")
    found: list[Alarm] = []
    for begin in range(0, len(keys), AT_ONCE):
        some = keys[begin : begin + AT_ONCE]
        answer = cloudwatch.describe_alarms(AlarmNames=some, MaxRecords=AT_ONCE)
        found += [_alarm(named[one["AlarmName"]], one) for one in answer["MetricAlarms"]]
    return found


def _alarm(name: str, described: dict[str, Any]) -> Alarm:
    return Alarm(
        name=name,
        state=described["StateValue"],
        description=described.get("AlarmDescription", ""),
        reason=described.get("StateReason", ""),
        since=described["StateUpdatedTimestamp"].isoformat() if "StateUpdatedTimestamp" in described else "",
        is_enabled=described.get("ActionsEnabled", True),
        topics=tuple(described.get("AlarmActions", ())),
    )


def subscribers(stack: OperatorStack) -> int:
    """Of the alarm topic, that have confirmed: others have no ARN."""
    topic = stack.outputs["AlarmTopic"]
    pages = stack.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
    return sum(one["SubscriptionArn"].startswith("arn:") for page in pages for one in page["Subscriptions"])
