"""An account of moto is read, page by page; what is not allowed is said."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError

from delayer_client.eventbridge import Options, ReadingError, Request, read_account, session_of, translate
from tests.client.eventbridge.samples import NOW, QUEUE, REGION, ROLE, requested
from tests.unit.empty_account import empty_account

SCHEDULES = 60  # more than a page


@pytest.fixture
def account() -> Iterator[boto3.Session]:
    with empty_account():
        yield boto3.Session(region_name=REGION)


def put_schedule(session: boto3.Session, name: str, **more: Any) -> None:
    session.client("scheduler").create_schedule(
        Name=name,
        ScheduleExpression="rate(1 hour)",
        FlexibleTimeWindow={"Mode": "OFF"},
        State="ENABLED",
        Target={"Arn": QUEUE, "RoleArn": ROLE, "Input": json.dumps({"of": name})},
        **more,
    )


def put_rule(session: boto3.Session, name: str, targets: list[dict[str, Any]], **more: Any) -> None:
    events = session.client("events")
    events.put_rule(Name=name, **({"ScheduleExpression": "cron(0 20 * * ? *)"} | more))
    by = {"EventBusName": more["EventBusName"]} if "EventBusName" in more else {}
    if targets:
        events.put_targets(Rule=name, Targets=targets, **by)


def refuse(session: boto3.Session, monkeypatch: pytest.MonkeyPatch, *operations: str) -> None:
    """The clients of this session answer these calls with AccessDenied."""
    make = session.client

    def client(service: Any, **options: Any) -> Any:
        made = make(service, **options)

        def refused(model: Any, **_: Any) -> None:
            if model.name in operations:
                raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, model.name)

        made.meta.events.register("before-call", refused)
        return made

    monkeypatch.setattr(session, "client", client)


def test_all_schedules_of_all_groups(account: boto3.Session) -> None:
    account.client("scheduler").create_schedule_group(Name="orders")
    for number in range(SCHEDULES):
        put_schedule(account, f"n{number}")
    put_schedule(account, "other", GroupName="orders")
    steps: list[tuple[str, int]] = []
    found = read_account(account, progress=lambda what, count: steps.append((what, count)))
    assert found.gaps == ()
    assert len(found.schedules) == SCHEDULES + 1
    assert steps == [("schedules", number + 1) for number in range(SCHEDULES + 1)]
    items = translate(found, Options(now=NOW))
    payloads = [requested(one)["payload"]["of"] for one in items if isinstance(one, Request)]
    assert sorted(payloads) == sorted([*(f"n{number}" for number in range(SCHEDULES)), "other"])


def test_one_group(account: boto3.Session) -> None:
    account.client("scheduler").create_schedule_group(Name="orders")
    put_schedule(account, "one")
    put_schedule(account, "other", GroupName="orders")
    assert [one.name for one in read_account(account, groups=["orders"]).schedules] == ["other"]


def test_scheduled_rules_of_all_buses_with_their_targets(account: boto3.Session) -> None:
    put_rule(account, "nightly", [{"Id": "one", "Arn": QUEUE, "Input": "{}"}, {"Id": "two", "Arn": QUEUE}])
    put_rule(account, "uploads", [], ScheduleExpression="", EventPattern='{"source": ["aws.s3"]}')
    [rule] = read_account(account).rules
    assert rule.name == "nightly"
    assert rule.event_bus_name == "default"
    assert [one.id for one in rule.targets or ()] == ["one", "two"]
    assert read_account(account, buses=["orders"]).rules == ()


def test_api_destinations_are_read_with_their_connection(account: boto3.Session) -> None:
    events = account.client("events")
    key = {"ApiKeyAuthParameters": {"ApiKeyName": "X-Api-Key", "ApiKeyValue": "k-0123456789"}}
    connection = events.create_connection(Name="crm-key", AuthorizationType="API_KEY", AuthParameters=key)
    destination = events.create_api_destination(
        Name="crm",
        ConnectionArn=connection["ConnectionArn"],
        InvocationEndpoint="https://api.example.com/sync",
        HttpMethod="PUT",
    )
    arn = destination["ApiDestinationArn"]
    put_rule(account, "sync", [{"Id": "one", "Arn": arn, "Input": "{}"}, {"Id": "two", "Arn": arn, "Input": "{}"}])
    items = translate(read_account(account), Options(now=NOW))
    for item in items:
        action = requested(item)["action"]
        assert action["url"] == "https://api.example.com/sync"
        assert action["connection"] == "crm-key"
    assert len(items) == 2


@pytest.mark.parametrize(
    ("operation", "what", "action"),
    [
        ("ListSchedules", "schedules", "scheduler:ListSchedules"),
        ("GetSchedule", "schedule default/one", "scheduler:GetSchedule"),
        ("ListEventBuses", "event buses", "events:ListEventBuses"),
        ("ListRules", "rules default", "events:ListRules"),
        ("ListTargetsByRule", "rule default/nightly", "events:ListTargetsByRule"),
    ],
)
def test_what_is_not_allowed_is_said_and_the_rest_is_read(
    account: boto3.Session, monkeypatch: pytest.MonkeyPatch, operation: str, what: str, action: str
) -> None:
    put_schedule(account, "one")
    put_rule(account, "nightly", [{"Id": "one", "Arn": QUEUE, "Input": "{}"}])
    refuse(account, monkeypatch, operation)
    found = read_account(account)
    [gap] = found.gaps
    assert gap.what == what
    assert gap.why == f"{action} is not allowed."
    assert len(found.schedules) == (operation not in ("ListSchedules", "GetSchedule"))
    assert len(found.rules) == (operation not in ("ListRules", "ListTargetsByRule"))


def test_a_fault_is_a_gap_as_well(account: boto3.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    make = account.client

    def client(service: Any, **options: Any) -> Any:
        made = make(service, **options)

        def failed(**_: Any) -> None:
            raise EndpointConnectionError(endpoint_url="https://events.eu-west-1.amazonaws.com")

        if service == "events":
            made.meta.events.register("before-call", failed)
        return made

    monkeypatch.setattr(account, "client", client)
    put_schedule(account, "one")
    found = read_account(account)
    assert len(found.schedules) == 1
    assert all(gap.why.endswith('".') for gap in found.gaps)  # a sentence, whose remedy follows
    assert [gap.why.partition(":")[2][:35] for gap in found.gaps] == [
        "ListEventBuses failed: Could not co",
        "ListRules failed: Could not connect",
    ]


def test_without_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    with pytest.raises(
        ReadingError, match=r"No region is configured: give one \(--region eu-west-1\), or set AWS_DEFAULT_REGION\.$"
    ):
        session_of()
    with pytest.raises(ReadingError, match="nobody"):
        session_of(REGION, profile="nobody")
    assert session_of(REGION).region_name == REGION


def test_without_credentials(account: boto3.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    make = account.client

    def client(service: Any, **options: Any) -> Any:
        made = make(service, **options)

        def missing(**_: Any) -> None:
            raise NoCredentialsError

        made.meta.events.register("before-call", missing)
        return made

    monkeypatch.setattr(account, "client", client)
    with pytest.raises(ReadingError, match="No credentials of AWS were found"):
        read_account(account)
