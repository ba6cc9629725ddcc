"""What template.yaml says of a function: what invokes it, how many run at a time, its settings."""

from functools import cache
from typing import Any

from docs.hooks.reference.stack.values import parts, resource
from docs.hooks.reference.text import duration, listed
from tests import cfn


def memory(function: str) -> str:
    """Of one execution environment."""
    both = _globals() | cfn.functions()[function]
    return f"{both['MemorySize']} MB"


def timeout(function: str) -> str:
    """Of one invocation."""
    return duration(cfn.functions()[function]["Timeout"])


def _globals() -> dict[str, Any]:
    common: dict[str, Any] = cfn.expanded()["Globals"]["Function"]
    return common


def invoked_by(function: str) -> list[str]:
    """A sentence for each."""
    others = [f"The function [`{one}`](docs:reference/functions/{one}.md)." for one in callers()[function]]
    found = [*routes(function), *sources(function), *times(function), *deployments(function), *others]
    return found or ["Nothing in the stack. An operator does, who needs `lambda:InvokeFunction` for it."]


@cache
def _routes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for route in cfn.resources("AWS::ApiGatewayV2::Route").values():
        integration = route["Target"]["Fn::Sub"].removeprefix("integrations/${").removesuffix("Integration}")
        found.setdefault(integration, []).append(route["RouteKey"])
    return found


def routes(function: str) -> list[str]:
    """Its calls of the API."""
    keys = sorted(_routes().get(cfn.logical_names()[function], []))
    if keys == ["$default"]:
        return ["Each call of the API that has no route."]
    return [f"{listed([f'`{key}`' for key in keys])} of the API."] if keys else []


def sources(function: str) -> list[str]:
    """The queues and streams that it reads."""
    queues = [queue(properties) for name, properties in cfn.events("SQS") if name == function]
    streams = [stream(properties) for name, properties in cfn.events("DynamoDB") if name == function]
    return [*queues, *streams]


def queue(mapping: dict[str, Any]) -> str:
    """Which, how many at a time, how many functions read it, and what becomes of messages that they cannot handle."""
    name, size = resource(mapping["Queue"]), mapping.get("BatchSize", 10)
    several = "one at a time" if size == 1 else f"up to {size} at a time"
    return f"Messages of `{name}`, {several}. {readers(mapping)}{given_up(name)}"


def given_up(queue: str) -> str:
    """Where a message goes that comes back again and again."""
    redrive = cfn.resources("AWS::SQS::Queue")[queue].get("RedrivePolicy")
    if not redrive:
        return ""
    times = f"{redrive['maxReceiveCount']:,}"
    return f" A message that was received {times} times moves to `{resource(redrive['deadLetterTargetArn'])}`."


NO_VALUE = {"Ref": "AWS::NoValue"}


def readers(mapping: dict[str, Any]) -> str:
    """How many read a queue at a time."""
    match mapping.get("ScalingConfig"):
        case {"Fn::If": ["IsLarge", _, {"MaximumConcurrency": limit}]}:
            pollers = mapping["ProvisionedPollerConfig"]["Fn::If"][1]
            least, most = pollers["MinimumPollers"], pollers["MaximumPollers"]
            few = "Lambda says how many" if limit == NO_VALUE else f"At most {parts(limit)}"
            return (
                f"{few} run at a time; with [`Scale=large`](docs:reference/parameters.md#scale), "
                f"{least} to {most} provisioned pollers read the queue instead."
            )
        case {"MaximumConcurrency": limit}:
            return f"At most {str(limit) if isinstance(limit, int) else parts(limit)} run at a time."
    return "Lambda says how many run at a time."


def stream(mapping: dict[str, Any]) -> str:
    """Which, how many at a time, and what becomes of records that it cannot handle."""
    lanes = mapping.get("ParallelizationFactor", 1)
    only = " Removals only." if "REMOVE" in str(mapping.get("FilterCriteria")) else ""
    age = (
        duration(mapping["MaximumRecordAgeInSeconds"]) if mapping.get("MaximumRecordAgeInSeconds", -1) > 0 else "a day"
    )
    goes = mapping.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
    then = f", and then written to `{resource(goes)}`" if goes else ""
    condition = mapping.get("Enabled", {}).get("Fn::If", [""])[0] if isinstance(mapping.get("Enabled"), dict) else ""
    unless = " Not with [`Lifecycle=off`](docs:reference/parameters.md#lifecycle)." if condition == "HasEvents" else ""
    return (
        f"Records of the stream of `{resource(mapping['Stream']).removesuffix('.StreamArn')}`, "
        f"up to {mapping['BatchSize']} at a time.{only} At most {lanes} run for each shard of the "
        f"stream. A record that cannot be handled is tried again for {age}{then}.{unless}"
    )


def times(function: str) -> list[str]:
    """The rules of EventBridge on a schedule."""
    return [
        f"EventBridge, by `{rule['ScheduleExpression']}`."
        for rule in cfn.resources("AWS::Events::Rule").values()
        if function in [target["Id"] for target in rule["Targets"]]
    ]


def deployments(function: str) -> list[str]:
    """The custom resources of CloudFormation that it answers for."""
    name = cfn.logical_names()[function]
    kinds = {
        one["Type"]
        for one in cfn.expanded()["Resources"].values()
        if one.get("Properties", {}).get("ServiceToken") == {"Fn::GetAtt": f"{name}.Arn"}
    }
    return (
        [f"CloudFormation, for the custom resources {listed([f'`{kind}`' for kind in sorted(kinds)])}."]
        if kinds
        else []
    )


@cache
def callers() -> dict[str, list[str]]:
    """The functions that may invoke each function."""
    by_name = {name: folder for folder, name in cfn.logical_names().items()}
    found: dict[str, list[str]] = {folder: [] for folder in by_name.values()}
    for caller in found:
        for statement in cfn.statements(caller):
            if "lambda:InvokeFunction" in cfn.listed(statement["Action"]):
                named = [resource(one) for one in cfn.listed(statement["Resource"])]
                for name in named:
                    if name in by_name:
                        found[by_name[name]].append(caller)
    return found


def settings(function: str) -> list[tuple[str, str]]:
    """Its environment variables and what they are, those of all functions not counted."""
    return [(name, parts(value)) for name, value in sorted(cfn.variables(function).items())]


def shared_settings() -> list[tuple[str, str]]:
    """Those that all functions have."""
    return [(name, parts(value)) for name, value in sorted(cfn.shared_variables().items())]
