"""What was read from EventBridge is moved over to a stack, which has the actions for its targets, twice."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from delayer_client.eventbridge import Answer, Options, apply, translate
from delayer_client.eventbridge.reading.documents import shaped
from delayer_client.eventbridge.reading.sources import ApiDestination, Connection, Found, Rule, Schedule
from tests.e2e.client import StackClient

PLACE = "eu-west-1:000000000000"
DESTINATION = f"arn:aws:events:{PLACE}:api-destination/crm/1"
CONNECTION = f"arn:aws:events:{PLACE}:connection/from-eventbridge/1"


class Stack:
    """The destination of an import, as the command line makes one of its client."""

    def __init__(self, client: StackClient) -> None:
        self._client = client

    def put_schedule(self, name: str, body: bytes) -> Answer:
        return self._call("PUT", f"/schedules/by-name/{name}", body, {"If-None-Match": "*"})

    def put_series(self, name: str, body: bytes) -> Answer:
        return self._call("PUT", f"/series/by-name/{name}", body, {"If-None-Match": "*"})

    def get_schedule(self, name: str) -> Answer:
        return self._call("GET", f"/schedules/by-name/{name}")

    def get_series(self, name: str) -> Answer:
        return self._call("GET", f"/series/by-name/{name}")

    def preview_series(self, body: bytes) -> Answer:
        return self._call("POST", "/series/preview", body)

    def _call(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        status, _, document = self._client.call(method, path, body, headers)
        return Answer(status, document)


def a_schedule(expression: str, name: str, **more: Any) -> Schedule:
    document = {
        "Name": name,
        "GroupName": "from-eventbridge",
        "Arn": f"arn:aws:scheduler:{PLACE}:schedule/from-eventbridge/{name}",
        "ScheduleExpression": expression,
        "ScheduleExpressionTimezone": "Europe/Lisbon",
        "Target": {"Arn": f"arn:aws:sqs:{PLACE}:orders", "Input": '{"at": "<aws.scheduler.scheduled-time>"}'},
    }
    return shaped(document | more, Schedule, name)


def found() -> Found:
    later = datetime.now(UTC) + timedelta(days=3)
    rule = {
        "Name": "sync",
        "Arn": f"arn:aws:events:{PLACE}:rule/sync",
        "ScheduleExpression": "rate(1 day)",
        "Targets": [{"Id": "crm", "Arn": DESTINATION, "Input": "{}"}],
    }
    destination = {
        "ApiDestinationArn": DESTINATION,
        "Name": "crm",
        "ConnectionArn": CONNECTION,
        "InvocationEndpoint": "https://example.com/sync",
        "HttpMethod": "POST",
    }
    connection = {"ConnectionArn": CONNECTION, "Name": "from-eventbridge", "AuthorizationType": "BASIC"}
    window = {"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15}}
    return Found(
        schedules=(
            a_schedule("cron(0 9 ? * MON-FRI *)", "nightly", **window),
            a_schedule(f"at({later:%Y-%m-%dT%H:%M:%S})", "once"),
            a_schedule("cron(0 9 30 2 ? *)", "never"),
        ),
        rules=(shaped(rule, Rule, "rule"),),
        destinations={DESTINATION: shaped(destination, ApiDestination, "destination")},
        connections={CONNECTION: shaped(connection, Connection, "connection")},
    )


def test_an_import_can_be_repeated(on_aws: StackClient) -> None:
    """It takes some seconds: four imports, call by call."""
    there = Stack(on_aws)
    read = found()
    items = translate(read, Options(now=datetime.now(UTC)))
    dry = apply(items, there, dry_run=True)
    assert [one.state.value for one in dry] == ["ready", "ready", "refused", "ready"]
    assert len(dry[0].next) == 3

    first = apply(items, there)
    assert [one.state.value for one in first] == ["moved", "moved", "refused", "refused"]
    assert "repeat.cron: empty" in first[2].reason
    assert "connection" in first[3].reason  # which somebody has to make, as the note says

    made = {"type": "basic", "username": "delayer", "password": "correct horse"}
    assert on_aws.call("PUT", "/connections/from-eventbridge", made)[0] == 201
    second = apply(items, there)
    assert [one.state.value for one in second] == ["there", "there", "refused", "moved"]
    assert [one.id for one in second][:2] == [one.id for one in first][:2]

    now = datetime.now(UTC)
    cutover = now.replace(second=0, microsecond=0) + timedelta(days=1)
    other = apply(translate(read, Options(now=now, cutover=cutover)), there)
    assert [one.state.value for one in other] == ["refused", "there", "refused", "refused"]
    assert other[0].reason.startswith("an earlier import has moved it, and it is not the same now: repeat.from is ")

    status, _, series = on_aws.call("GET", "/series/by-name/from-eventbridge:nightly")
    assert status == 200
    assert series["repeat"]["timeZone"] == "Europe/Lisbon"
    assert series["payload"] == {"at": "<delayer.occurrence.time>"}
    assert json.dumps(series["window"]) == '{"seconds": 900}'
