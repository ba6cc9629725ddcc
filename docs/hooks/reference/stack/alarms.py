"""Every alarm of template.yaml: what it watches, and when it rings."""

import re
from functools import cache
from typing import Any

from docs.hooks.reference.stack.values import logical_names
from docs.hooks.reference.text import ROOT, duration, listed
from tests import cfn

KIND = "AWS::CloudWatch::Alarm"
COMPARED = {
    "GreaterThanOrEqualToThreshold": "is {} or more",
    "GreaterThanThreshold": "is more than {}",
    "LessThanThreshold": "is less than {}",
    "LessThanOrEqualToThreshold": "is {} or less",
}
STATISTICS = {
    "Sum": "the sum of",
    "Maximum": "the greatest",
    "Minimum": "the least",
    "SampleCount": "the number of values of",
    "p99": "the 99th percentile of",
    "p50": "the median of",
}
CONDITIONS = {
    "HasEvents": "Only if [`Lifecycle`](docs:reference/parameters.md#lifecycle) is `journal` or `events`.",
    "HasJournal": "Only if [`Lifecycle`](docs:reference/parameters.md#lifecycle) is `journal`.",
    "HasCanary": "Only if [`Canary`](docs:reference/parameters.md#canary) is `on`.",
}


@cache
def entries() -> dict[str, list[str]]:
    """The alarms by their entry in the runbook: what a loop makes for each of its names has one."""
    found: dict[str, list[str]] = {}
    for alarm in cfn.resources(KIND):
        found.setdefault(cfn.entry_of(alarm), []).append(alarm)
    return found


@cache
def runbook() -> dict[str, dict[str, str]]:
    """The headings of the runbook, by the sections that they stand in: each alarm with its anchor."""
    found: dict[str, dict[str, str]] = {}
    for line in (ROOT / "docs/operate/runbook.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            found[line.removeprefix("## ")] = {}
        elif line.startswith("### "):
            named = line.removeprefix("### ")
            for alarm in named.split(", "):
                found[list(found)[-1]][alarm] = named.lower().replace(", ", "-")
    return found


def alarms() -> str:
    """In the order of the runbook."""
    parts = [
        f"## {title}\n\n" + "\n".join(section(entry, place) for entry, place in inside.items())
        for title, inside in runbook().items()
        if inside
    ]
    return "\n".join(parts)


def section(entry: str, place: str) -> str:
    """One entry."""
    names = entries()[entry]
    alarm = cfn.resources(KIND)[names[0]]
    several = f"There are {len(names)}: {listed([f'`{name}`' for name in names])}.\n\n" if names != [entry] else ""
    condition = CONDITIONS.get(cfn.expanded()["Resources"][names[0]].get("Condition", ""), "")
    lines = [
        f"- **Rings** {when(alarm)}",
        f"- **Without data**: {silence(alarm)}",
        *([f"- {condition}"] if condition else []),
    ]
    return (
        f"### `{entry}`\n\n{text(entry)} [What to do](docs:operate/runbook.md#{place}).\n\n{several}"
        + "\n".join(lines)
        + "\n"
    )


def text(entry: str) -> str:
    """Its description, without the pointer to the runbook; what differs within a loop is left open."""
    names = entries()[entry]
    said = cfn.resources(KIND)[names[0]]["AlarmDescription"]
    said = said["Fn::Sub"] if isinstance(said, dict) else said
    said = re.sub(r" Runbook: \w+\.$", "", said)
    return re.sub(r"\b(executor|subscriber|policy)-[a-z0-9-]+", r"`\1-*`", said) if names != [entry] else said


def anchor(entry: str) -> str:
    """Of its heading on the page of alarms."""
    return entry.lower()


def link(entry: str) -> str:
    """To its section on the page of alarms."""
    return f"[`{entry}`](docs:reference/alarms.md#{anchor(entry)})"


def when(alarm: dict[str, Any]) -> str:
    """The condition, and how long it has to last."""
    period = period_of(alarm)
    threshold = f"`{alarm['Threshold']:,}`"
    compared = COMPARED[alarm["ComparisonOperator"]].format(threshold)
    return f"when {measured(alarm)} {compared}{lasting(alarm, period)}.{inputs(alarm)}"


def period_of(alarm: dict[str, Any]) -> int:
    """In seconds; that of what is calculated is that of its parts."""
    parts = [one["MetricStat"]["Period"] for one in alarm.get("Metrics", []) if "MetricStat" in one]
    return int(alarm.get("Period") or parts[0])


def lasting(alarm: dict[str, Any], period: int) -> str:
    """How many periods, and how many of them."""
    number, enough = alarm["EvaluationPeriods"], alarm.get("DatapointsToAlarm", alarm["EvaluationPeriods"])
    if number == 1:
        return f", over {duration(period)}"
    times = f"each of {number}" if enough == number else f"{enough} of {number}"
    return f", in {times} periods of {duration(period)}"


def measured(alarm: dict[str, Any]) -> str:
    """The statistic of a metric, or an expression over several."""
    if "MetricName" in alarm:
        return f"{STATISTICS[alarm['Statistic']]} {metric(alarm)}"
    [expression] = [one["Expression"] for one in alarm["Metrics"] if one.get("ReturnData", True)]
    return f"`{expression}`"


def inputs(alarm: dict[str, Any]) -> str:
    """What the names in an expression stand for."""
    stats = {one["Id"]: one["MetricStat"] for one in alarm.get("Metrics", []) if "MetricStat" in one}
    said = [f"`{name}` is {STATISTICS[one['Stat']]} {metric(one['Metric'])}" for name, one in stats.items()]
    return f" Here, {listed(said)}." if said else ""


def metric(one: dict[str, Any]) -> str:
    """Its name, and whose it is."""
    name, space = one["MetricName"], one["Namespace"]
    if space == "Delayer":
        return f"[`{name}`](docs:reference/metrics.md#{name.lower()})"
    return f"`{name}` of {subject(one['Dimensions'])} (`{space}`)"


def subject(dimensions: list[dict[str, Any]]) -> str:
    """What a metric of AWS is about."""
    [name] = {found for one in dimensions for found in logical_names(one["Value"])}
    folders = {logical: folder for folder, logical in cfn.logical_names().items()}
    if name in folders:
        return f"`{folders[name]}`"
    if dimensions[0]["Name"] == "EventSourceMappingUUID":
        return f"the mapping `{name}`"
    return f"`{name}`"


def silence(alarm: dict[str, Any]) -> str:
    """What it takes missing data for."""
    return "it rings." if alarm["TreatMissingData"] == "breaching" else "it is silent."


def of_metric(name: str) -> list[str]:
    """The entries of the alarms that watch a metric of Delayer's own."""
    link = f"metrics.md#{name.lower()})"
    return [entry for entry, names in entries().items() if link in when(cfn.resources(KIND)[names[0]])]


@cache
def watched() -> dict[str, set[str]]:
    """The resources that each alarm is about."""
    keys = ("Dimensions", "Metrics")
    return {name: logical_names([alarm.get(key) for key in keys]) for name, alarm in cfn.resources(KIND).items()}


@cache
def belongings() -> dict[str, set[str]]:
    """The logical names of each function, its queues and its mappings."""
    found = {folder: {name} for folder, name in cfn.logical_names().items()}
    for queue, consumer in cfn.consumed().items():
        found[consumer].add(queue)
    for folder, function in cfn.functions().items():
        found[folder] |= {cfn.logical_names()[folder] + event for event in function.get("Events", {})}
    for name, mapping in cfn.resources("AWS::Lambda::EventSourceMapping").items():
        for own in found.values():
            if logical_names(mapping["FunctionName"]) & own:
                own.add(name)
                break
    return found


def on(function: str) -> list[str]:
    """The entries of the alarms that are about a function or what it reads."""
    own = belongings()[function]
    return [entry for entry, names in entries().items() if any(watched()[name] & own for name in names)]
