"""The stack as it stands in the caller's account: its parameters, its operator function, its canary, its alarms."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from delayer_client.operator.credentials import Aws
from delayer_client.operator.errors import NoStack

AWS_ERRORS: Final = (BotoCoreError, ClientError)
PUBLISHED: Final = "Messages Published per Second"  # the name of a quota of SNS
NAMESPACE: Final = "Delayer"  # of the metrics that the functions write
PERIOD: Final = 60  # seconds of a figure of CloudWatch


@dataclass(frozen=True, kw_only=True)
class CanaryAlarm:
    """An alarm of the canary, and what its metric has shown lately."""

    name: str
    metric: str
    state: str  # OK, ALARM, INSUFFICIENT_DATA
    topics: tuple[str, ...]  # that it notifies
    is_enabled: bool
    figures: tuple[float, ...]  # the highest of each minute, the oldest first


@dataclass(kw_only=True)
class Account:
    """Reads with the caller's own credentials. Errors: those of botocore, unless a method says otherwise."""

    aws: Aws
    stack: str
    parameters: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def client(self, service: str) -> Any:
        """A client, made once."""
        return self.aws.client(service)

    def read(self, url: str) -> None:
        """The stack's parameters and outputs. NoStack if it cannot be read, or serves another address."""
        try:
            [stack] = self.client("cloudformation").describe_stacks(StackName=self.stack)["Stacks"]
        except AWS_ERRORS as error:
            raise NoStack(f"the stack {self.stack} cannot be read ({error}); STACK= names another one") from error
        self.parameters = {one["ParameterKey"]: one["ParameterValue"] for one in stack.get("Parameters", [])}
        self.outputs = {one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", [])}
        served = self.outputs.get("ApiUrl", "")
        if ".execute-api." in url and url != served:
            raise NoStack(f"the stack {self.stack} serves {served}, not {url}; STACK= names another one")

    def setting(self, name: str, default: str) -> str:
        """A parameter of the stack; of one that counts when a stack is packaged, such as Actions, the output."""
        return self.parameters.get(name) or self.outputs.get(name, default)

    def concurrent_executions(self) -> int:
        """How many functions the account lets run at a time."""
        limits = self.client("lambda").get_account_settings()["AccountLimit"]
        return int(limits["ConcurrentExecutions"])

    @property
    def region(self) -> str:
        """Where the stack is."""
        return self.aws.region

    def publishes_a_second(self) -> int:
        """How many messages the account may publish to topics; 0 if Service Quotas does not say it."""
        try:
            pages = self.client("service-quotas").get_paginator("list_service_quotas").paginate(ServiceCode="sns")
            found = [one["Value"] for page in pages for one in page["Quotas"] if one["QuotaName"] == PUBLISHED]
        except AWS_ERRORS:
            return 0
        return int(found[0]) if found else 0

    def provisioned_pollers(self) -> dict[str, int] | None:
        """The least number of each function of the stack that has some; None if no mapping of the stack is found."""
        listed = self.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=self.stack)
        resources = [one for page in listed for one in page["StackResourceSummaries"]]
        of_stack = {
            one["PhysicalResourceId"] for one in resources if one["ResourceType"] == "AWS::Lambda::EventSourceMapping"
        }
        pages = self.client("lambda").get_paginator("list_event_source_mappings").paginate()
        own = [
            (one["FunctionArn"].split(":")[6], one.get("ProvisionedPollerConfig", {}).get("MinimumPollers", 0))
            for page in pages
            for one in page["EventSourceMappings"]
            if one["UUID"] in of_stack
        ]
        return {name: number for name, number in own if number} if own else None

    def ttl_of(self, output: str) -> str:
        """Of the table that the stack names so: its state, and the attribute it goes by."""
        answer = self.client("dynamodb").describe_time_to_live(TableName=self.outputs[output])
        found = answer["TimeToLiveDescription"]
        return f"{found['TimeToLiveStatus']} {found.get('AttributeName', '')}".strip()

    def operate(self, command: Mapping[str, str]) -> dict[str, Any]:
        """Returns the answer of the operator's function. ValueError with its reason if it refused."""
        answer = self.client("lambda").invoke(
            FunctionName=f"{self.stack}-operator-dead-letters", Payload=json.dumps(command)
        )
        content = json.loads(answer["Payload"].read() or "null")
        if not isinstance(content, dict):
            raise ValueError(f"operator-dead-letters does not answer as it should: {str(content)[:200]}")
        if "FunctionError" in answer or not content.get("ok"):
            raise ValueError(f"operator-dead-letters: {content.get('error') or content}")
        result: dict[str, Any] = content["result"]
        return result

    def canary_alarms(self, minutes: int = 15) -> list[CanaryAlarm]:
        """The alarms on a metric of Delayer's own whose logical names begin with Canary; none if the stack has none."""
        names = self._alarms_of_the_canary()
        found = self.client("cloudwatch").describe_alarms(AlarmNames=names)["MetricAlarms"] if names else []
        return [self._canary_alarm(alarm, minutes) for alarm in found if alarm.get("Namespace") == NAMESPACE]

    def _canary_alarm(self, alarm: Mapping[str, Any], minutes: int) -> CanaryAlarm:
        end = datetime.now(UTC)
        answer = self.client("cloudwatch").get_metric_statistics(
            Namespace=alarm["Namespace"],
            MetricName=alarm["MetricName"],
            Dimensions=alarm.get("Dimensions", []),
            StartTime=end - timedelta(minutes=minutes),
            EndTime=end + timedelta(minutes=1),
            Period=PERIOD,
            Statistics=["Maximum"],
        )
        points = sorted(answer["Datapoints"], key=lambda point: point["Timestamp"])
        return CanaryAlarm(
            name=alarm["AlarmName"],
            metric=alarm["MetricName"],
            state=alarm["StateValue"],
            topics=tuple(alarm.get("AlarmActions", ())),
            is_enabled=alarm.get("ActionsEnabled", True),
            figures=tuple(point["Maximum"] for point in points),
        )

    def _alarms_of_the_canary(self) -> list[str]:
        pages = self.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=self.stack)
        return sorted(
            one["PhysicalResourceId"]
            for page in pages
            for one in page["StackResourceSummaries"]
            if one["ResourceType"] == "AWS::CloudWatch::Alarm" and one["LogicalResourceId"].startswith("Canary")
        )

    def confirmed_subscribers(self, topic: str) -> int:
        """Counts the subscriptions to alarms that were confirmed."""
        pages = self.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
        return sum(one["SubscriptionArn"].startswith("arn:") for page in pages for one in page["Subscriptions"])
