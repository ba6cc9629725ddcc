"""Asks CloudFormation and EventBridge, and reads the rows that the ticks have left in the control table."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from botocore.exceptions import ClientError

from delayer_client.operator.calls import asking
from delayer_client.operator.doctor.facts import StackFacts, TickFacts, TickRows, TickRule
from delayer_client.operator.doctor.gather.seeing import seen
from delayer_client.operator.stack import OperatorStack

RULE: Final = "EveryMinute"  # which starts the tasks of each minute, by its name in the template


def look(stack: OperatorStack, _: datetime) -> StackFacts:
    """The status of the stack."""
    description = stack.description
    return StackFacts(name=stack.name, status=stack.status, reason=str(description.get("StackStatusReason", "")))


def look_at_ticks(stack: OperatorStack, _: datetime) -> TickFacts:
    """All that shows whether the tasks of each minute run."""
    return TickFacts(
        rows=seen("dynamodb:GetItem on the control table", lambda: tick_rows(stack)),
        rule=seen("events:DescribeRule", lambda: _rule(stack)),
        created_at=changed_at(stack),
    )


def changed_at(stack: OperatorStack) -> datetime:
    """When the stack was created, or last updated."""
    description = stack.description
    found: datetime = description.get("LastUpdatedTime") or description["CreationTime"]
    return found.astimezone(UTC)


def tick_rows(stack: OperatorStack) -> TickRows:
    """The control rows `sweep` and `heartbeat`."""
    sweep, heartbeat = _row(stack, "sweep"), _row(stack, "heartbeat")
    awaited = heartbeat.get("awaited", {}).get("SS", [])
    return TickRows(
        swept_at=_instant(sweep, "sweptAt", 1000),
        closed_until=_instant(sweep, "closedUntil", 1 / 60),
        heartbeat_at=_instant(heartbeat, "seenAt", 1000),
        awaited=sorted(datetime.fromtimestamp(int(one.partition("#")[0]) / 1000, UTC) for one in awaited),
    )


def _row(stack: OperatorStack, name: str) -> Mapping[str, Any]:
    answer = stack.client("dynamodb").get_item(
        TableName=stack.outputs["ControlTable"], Key={"name": {"S": name}}, ConsistentRead=True
    )
    found: Mapping[str, Any] = answer.get("Item", {})
    return found


def _instant(row: Mapping[str, Any], name: str, per_second: float) -> datetime | None:
    return datetime.fromtimestamp(int(row[name]["N"]) / per_second, UTC) if name in row else None


def _rule(stack: OperatorStack) -> TickRule:
    found = [one.physical_id for one in stack.resources_of("AWS::Events::Rule") if one.logical_id == RULE]
    return TickRule(name=found[0], state=_state(stack.client("events"), found[0])) if found else TickRule()


def _state(rules: Any, name: str) -> str:
    try:
        with asking("events:DescribeRule"):
            return str(rules.describe_rule(Name=name)["State"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            return ""
        raise
