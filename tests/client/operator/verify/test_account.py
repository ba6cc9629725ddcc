"""What is read of the stack and its canary, from AWS as moto plays it."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from delayer_client.operator.credentials import Aws
from delayer_client.operator.errors import NoStack
from delayer_client.operator.verify.account import PUBLISHED, Account
from tests.unit.empty_account import empty_account

TEMPLATE = """
Parameters: {DelayerPeriod: {Type: String, Default: "60"}}
Resources:
  AlarmTopic: {Type: AWS::SNS::Topic}
Outputs:
  ApiUrl: {Value: "https://abc.execute-api.us-east-1.amazonaws.com"}
  AlarmTopic: {Value: !Ref AlarmTopic}
"""


ALARM = {
    "AlarmName": "delayer-CanaryAlarm-1",
    "Namespace": "Delayer",
    "MetricName": "CanaryLateness",
    "Dimensions": [{"Name": "service", "Value": "delayer"}],
    "Statistic": "Maximum",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 1000,
    "ComparisonOperator": "GreaterThanThreshold",
}


class Resources:
    """The resources of a stack, which moto makes without its alarms."""

    def get_paginator(self, operation: str) -> "Resources":
        assert operation == "list_stack_resources"
        return self

    def paginate(self, StackName: str) -> list[dict[str, Any]]:  # noqa: N803
        names = {"LatenessAlarm": "late", "CanaryAlarm": ALARM["AlarmName"], "CanaryQueueAlarm": "of-the-queue"}
        kind = "AWS::CloudWatch::Alarm"
        summaries = [
            {"LogicalResourceId": logical, "PhysicalResourceId": name, "ResourceType": kind}
            for logical, name in names.items()
        ]
        return [{"StackResourceSummaries": summaries}]


@pytest.fixture
def account() -> Iterator[Account]:
    with empty_account():
        session = boto3.Session(aws_access_key_id="k", aws_secret_access_key="s", region_name="us-east-1")
        account = Account(aws=Aws(session=session, region="us-east-1"), stack="delayer")
        account.client("cloudformation").create_stack(StackName="delayer", TemplateBody=TEMPLATE)
        yield account


class Limits:
    """boto3's client of Lambda, as far as this is asked for."""

    def get_account_settings(self) -> dict[str, dict[str, int]]:
        return {"AccountLimit": {"ConcurrentExecutions": 1_000, "UnreservedConcurrentExecutions": 900}}


def test_the_stack_is_read(account: Account) -> None:
    account.read("https://abc.execute-api.us-east-1.amazonaws.com")
    assert account.setting("DelayerPeriod", "840") == "60"
    assert account.setting("HandoverLead", "500") == "500"


@pytest.mark.parametrize("content", ["", "null", "[]"])
def test_an_answer_that_is_none(account: Account, content: str) -> None:
    """Of another function of this name, or of one that broke off: a sentence, which a part of the run can show."""

    class Silent:
        def invoke(self, **_: object) -> dict[str, Any]:
            return {"Payload": io.BytesIO(content.encode())}

    account.aws.clients["lambda", True] = Silent()
    with pytest.raises(ValueError, match="operator-dead-letters does not answer as it should"):
        account.operate({"command": "list"})


def test_what_the_account_allows(account: Account) -> None:
    account.aws.clients["lambda", True] = Limits()  # moto does not have it
    assert account.concurrent_executions() == 1_000


class Listing:
    """boto3's client of a service that lists something, in two pages."""

    def __init__(self, operation: str, key: str, *listed: dict[str, Any]) -> None:
        self.operation, self.key, self.listed = operation, key, listed

    def get_paginator(self, operation: str) -> "Listing":
        assert operation == self.operation
        return self

    def paginate(self, **_: str) -> list[dict[str, Any]]:
        return [{self.key: list(self.listed[:1])}, {self.key: list(self.listed[1:])}]


def test_what_sns_takes_from_the_account(account: Account) -> None:
    """Zero is what Service Quotas does not say: it may not be asked, or does not know it."""
    quotas = [{"QuotaName": "Topics per account", "Value": 1e5}, {"QuotaName": PUBLISHED, "Value": 9_000.0}]
    account.aws.clients["service-quotas", True] = Listing("list_service_quotas", "Quotas", *quotas)
    assert account.publishes_a_second() == 9_000
    account.aws.clients["service-quotas", True] = Listing("list_service_quotas", "Quotas", quotas[0])
    assert account.publishes_a_second() == 0

    class Denied:
        def get_paginator(self, operation: str) -> None:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, operation)

    account.aws.clients["service-quotas", True] = Denied()
    assert account.publishes_a_second() == 0


def mapping(function: str, minimum: int = 0) -> dict[str, Any]:
    arn = f"arn:aws:lambda:eu-west-1:123456789012:function:{function}"
    found: dict[str, Any] = {"FunctionArn": arn, "UUID": f"of {function}"}
    return {**found, "ProvisionedPollerConfig": {"MinimumPollers": minimum}} if minimum else found


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ([], None),
        ([mapping("other-delayer-relay", 2)], None),
        ([mapping("delayer-delayer-relay"), mapping("other-x", 2)], {}),
        ([mapping("delayer-delayer-relay"), mapping("delayer-2-delayer-relay", 30)], {}),
        ([mapping("delayer-delayer-relay", 30), mapping("delayer-series-stepper")], {"delayer-delayer-relay": 30}),
    ],
)
def test_which_pollers_of_the_stack_are_provisioned(account: Account, listed: list[Any], found: Any) -> None:
    """Another stack may have a name that begins like that of this one."""
    account.aws.clients["lambda", True] = Listing("list_event_source_mappings", "EventSourceMappings", *listed)
    names = ("of delayer-delayer-relay", "of delayer-series-stepper")
    own = [{"ResourceType": "AWS::Lambda::EventSourceMapping", "PhysicalResourceId": name} for name in names]
    account.aws.clients["cloudformation", True] = Listing("list_stack_resources", "StackResourceSummaries", *own)
    assert account.provisioned_pollers() == found


def test_a_stack_that_serves_another_address(account: Account) -> None:
    with pytest.raises(NoStack, match="STACK= names another one"):
        account.read("https://other.execute-api.us-east-1.amazonaws.com")
    account.stack = "none"
    with pytest.raises(NoStack, match="cannot be read"):
        account.read("http://localhost:8080")


def test_the_canary_is_found_by_its_alarm(account: Account) -> None:
    """Whatever the metric is called; an alarm on its queue is another matter."""
    account.read("http://localhost:8080")
    figure: dict[str, Any] = {
        "MetricName": "CanaryLateness",
        "Dimensions": [{"Name": "service", "Value": "delayer"}],
        "Timestamp": datetime.now(UTC),
        "Value": 17.0,
    }
    watch: Any = account.client("cloudwatch")
    watch.put_metric_alarm(**ALARM, AlarmActions=[account.outputs["AlarmTopic"]])
    watch.put_metric_alarm(**{**ALARM, "AlarmName": "of-the-queue", "Namespace": "AWS/SQS"})
    account.aws.clients["cloudformation", True] = Resources()
    account.client("cloudwatch").put_metric_data(Namespace="Delayer", MetricData=[figure])
    [alarm] = account.canary_alarms()
    assert alarm.metric == "CanaryLateness"
    assert alarm.figures == (17.0,)
    assert alarm.topics == (account.outputs["AlarmTopic"],)
    assert account.confirmed_subscribers(alarm.topics[0]) == 0
    queue = account.client("sqs").create_queue(QueueName="q")["QueueUrl"]
    arn = account.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]
    account.client("sns").subscribe(TopicArn=alarm.topics[0], Protocol="sqs", Endpoint=arn["QueueArn"])
    assert account.confirmed_subscribers(alarm.topics[0]) == 1


@pytest.mark.parametrize(("enabled", "state"), [(True, "ENABLED expiresAt"), (False, "DISABLED")])
def test_whether_records_expire(account: Account, enabled: bool, state: str) -> None:
    account.outputs["RelaxedTable"] = "relaxed"
    dynamodb = account.client("dynamodb")
    dynamodb.create_table(
        TableName="relaxed",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "bucket", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "bucket", "KeyType": "HASH"}],
    )
    if enabled:
        dynamodb.update_time_to_live(
            TableName="relaxed", TimeToLiveSpecification={"Enabled": True, "AttributeName": "expiresAt"}
        )
    assert account.ttl_of("RelaxedTable") == state
