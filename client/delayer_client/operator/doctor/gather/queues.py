"""Looks at the messages in the queues of the stack."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from delayer_client.operator.doctor.facts import Queue, QueueFacts
from delayer_client.operator.doctor.gather.metrics import PERMISSION, Metric, figures
from delayer_client.operator.doctor.gather.seeing import seen
from delayer_client.operator.stack import OperatorStack, Resource

COUNTS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible")


def look(stack: OperatorStack, now: datetime) -> QueueFacts:
    """All queues. SQS itself says how many messages there are, CloudWatch how old the oldest is."""
    resources, sqs = stack.resources_of("AWS::SQS::Queue"), stack.client("sqs")
    return QueueFacts(
        queues=[_queue(sqs, one) for one in resources],
        ages=seen(PERMISSION, lambda: _ages(stack, resources, now)),
    )


def _ages(stack: OperatorStack, resources: Sequence[Resource], now: datetime) -> dict[str, float]:
    wanted = {
        one.logical_id: Metric(
            namespace="AWS/SQS",
            name="ApproximateAgeOfOldestMessage",
            dimensions={"QueueName": one.physical_id.rpartition("/")[2]},
            statistic="Maximum",
        )
        for one in resources
    }
    return {name: values[-1] for name, values in figures(stack, wanted, now).items() if values}


def _queue(sqs: Any, resource: Resource) -> Queue:
    answer = sqs.get_queue_attributes(QueueUrl=resource.physical_id, AttributeNames=list(COUNTS))
    visible, delayed, in_flight = (int(answer["Attributes"].get(name, 0)) for name in COUNTS)
    return Queue(name=resource.logical_id, visible=visible, delayed=delayed, in_flight=in_flight)
