"""A lane that a stack has stays: what waits in it stands nowhere else, and nobody else would fire it (ADR 0172)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from operate.deploy.account import Stack
from operate.deploy.errors import TemplateError
from operate.deploy.settled import NONE


@frozen(kw_only=True)
class Lane:
    """One that a stack has if it names something."""

    parameter: str  # whose list is empty without it
    table: str  # the output that a stack with this lane has
    variable: str  # what it is for the functions that accept schedules
    always: str  # what the parameter was in effect before there was one: then every stack had the table
    is_one_of_many: bool  # whether `always` may be more than the stack needs, so that somebody has to choose


LANES_OF_A_FUNCTION: Final = "LANES"  # the variable that all have who accept schedules or series
LANES: Final = (
    Lane(parameter="Lanes", table="RelaxedTable", variable="LANES", always="relaxed", is_one_of_many=False),
    Lane(
        parameter="Policies",
        table="WaitingTable",
        variable="POLICIES",
        always="next-business-hour,spread",
        is_one_of_many=True,
    ),
)


def with_lanes(stack: Stack, values: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The values with what keeps the lanes of a stack that is older than the choice."""
    missing = {
        lane.parameter: lane.always
        for lane in LANES
        if lane.table in stack.outputs and lane.parameter not in stack.outputs and lane.parameter not in given
        if not lane.is_one_of_many
    }
    return {**missing, **values}


def refuse_to_take_a_lane(stack: Stack, name: str, values: Mapping[str, str], holds: Callable[[str], bool]) -> None:
    """Raises TemplateError for a deployment that would leave schedules where nothing reads them.

    `holds` says whether something is in a table. An empty one goes only if nothing can come into it meanwhile: if the
    stack has the table, but already names nothing that fills it, as most stacks did before there was a choice.
    """
    for lane in LANES:
        if lane.table not in stack.outputs or _names(values.get(lane.parameter, "")):
            continue
        before = stack.value(lane.parameter)
        if before and not _names(before) and not holds(stack.outputs[lane.table]):
            continue
        raise TemplateError(f"The stack {name} has {lane.table}, {_why_it_stays(lane, before)}.")


def _why_it_stays(lane: Lane, before: str) -> str:
    """And what to do. `before` is what the stack names; empty if it is older than the list."""
    if not before and lane.is_one_of_many:
        return (
            "in which schedules may wait that nothing would fire any more. The stack is older than the list "
            f"{lane.parameter}, and accepts schedules for each that there was: name those that it uses, such as "
            f"{lane.parameter}={lane.always}. If it uses none, name one of them all the same. Its lane stays"
        )
    if before and not _names(before):
        return (
            "in which something waits that nothing would fire any more. Name the policies that it waits for: "
            f"{lane.parameter}=…, such as {lane.parameter}={lane.always}"
        )
    return (
        "in which schedules may wait that nothing would fire any more. So a lane that a stack has stays: name at "
        f"least one of its {lane.parameter}, such as {lane.parameter}={before or lane.always}, or nothing, to keep "
        "what it has"
    )


def in_steps(stack: Stack, template: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns what is deployed, one after the other: a lane is there before anything is accepted for it.

    If an update fails, CloudFormation deletes the table that it has just made, with what is in it. So no update brings
    a table and the calls that fill it.
    """
    new = [lane for lane in LANES if lane.table in template["Outputs"] and lane.table not in stack.outputs]
    if not (stack.is_there and new):
        return [template]
    nothing = {lane.variable: "" for lane in new}
    resources = {name: _accepting(one, nothing) for name, one in template["Resources"].items()}
    return [{**template, "Resources": resources}, template]


def _accepting(resource: Mapping[str, Any], given: Mapping[str, str]) -> Mapping[str, Any]:
    """The same, given something else if it is a function that accepts schedules: those know the lanes."""
    variables = resource.get("Properties", {}).get("Environment", {}).get("Variables", {})
    if LANES_OF_A_FUNCTION not in variables:
        return resource
    changed = {**variables, **{name: value for name, value in given.items() if name in variables}}
    return {**resource, "Properties": {**resource["Properties"], "Environment": {"Variables": changed}}}


def _names(value: str) -> bool:
    return value.strip() not in ("", NONE)


def holds_something(dynamodb: Any, table: str) -> bool:
    """One read unit. Errors: those of botocore."""
    return bool(dynamodb.scan(TableName=table, Limit=1, ConsistentRead=True)["Items"])
