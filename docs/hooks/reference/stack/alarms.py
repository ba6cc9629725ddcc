"""Every alarm of template.yaml: what it watches, and when it rings."""

import re
from functools import cache
from typing import Any

from docs.hooks.reference.stack.values import logical_names, only_if
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
# What is measured in units of time, in seconds.
TIMES = {
    "ApproximateAgeOfOldestMessage": 1,
    "CanaryFarLateness": 0.001,
    "CanaryNearLateness": 0.001,
    "IteratorAge": 0.001,
    "Lateness": 0.001,
    "UndecidedAge": 0.001,
}
FUNCTION = re.compile(r"\b(executor|subscriber|policy|stream|timing|relaxed)-[a-z0-9*-]+")
CONDITIONS = {
    "": "",
    "HasEvents": "- Only if [`Lifecycle`](docs:reference/parameters.md#lifecycle) is `journal` or `events`.",
    "HasJournal": "- Only if [`Lifecycle`](docs:reference/parameters.md#lifecycle) is `journal`.",
    "HasAlarms": "- With [`Alarms`](docs:reference/parameters.md#alarms) `essential` or `all`.",
    "HasAllAlarms": "- Only with [`Alarms`](docs:reference/parameters.md#alarms) `all`.",
    "HasAllAlarmsOfEvents": "- Only with [`Alarms`](docs:reference/parameters.md#alarms) `all`, and with events.",
    "HasCanaryAlarms": (
        "- With [`Alarms`](docs:reference/parameters.md#alarms) `essential` or `all`, "
        "if [`Canary`](docs:reference/parameters.md#canary) is `on`."
    ),
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
    condition = CONDITIONS[cfn.expanded()["Resources"][names[0]].get("Condition", "")]
    rings = common([when(cfn.resources(KIND)[name]) for name in names])
    without = silence(cfn.resources(KIND)[names[0]])
    lines = [f"- **Rings** {rings}", f"- **Without data**: {without}", only_if(names[0]), condition]
    facts = "\n".join(filter(None, lines))
    to_do = f"[What to do](docs:operate/runbook.md#{place})."
    return f"### `{entry}`\n\n{text(entry)} {to_do}\n\n{several(entry, names)}{facts}\n"


def several(entry: str, names: list[str]) -> str:
    """The alarms of an entry that a loop makes."""
    if names == [entry]:
        return ""
    number = "It is" if len(names) == 1 else f"There are {len(names)} of it:"
    return f"{number} {listed([f'`{name}`' for name in names])} in the template.\n\n"


def common(texts: list[str]) -> str:
    """What is said of several, with a star for what differs: `Executor*Queue`."""
    words = zip(*(text.split(" ") for text in texts), strict=True)
    return " ".join(one[0] if len(set(one)) == 1 else starred(list(one)) for one in words)


def starred(words: list[str]) -> str:
    """What they begin and end with."""
    begins = shared_letters(words)
    ends = shared_letters([word[len(begins) :][::-1] for word in words])[::-1]
    return f"{begins}*{ends}"


def shared_letters(words: list[str]) -> str:
    """All begin with them."""
    least, most = min(words), max(words)
    return next((least[:at] for at, letter in enumerate(least) if letter != most[at]), least)


def text(entry: str) -> str:
    """Its description, without the pointer to the runbook, and with a star for what differs within a loop."""
    said = [cfn.resources(KIND)[name]["AlarmDescription"] for name in entries()[entry]]
    plain = [one["Fn::Sub"] if isinstance(one, dict) else one for one in said]
    return FUNCTION.sub(r"`\g<0>`", common([re.sub(r" Runbook: \w+\.$", "", one) for one in plain]))


def anchor(entry: str) -> str:
    """Of its heading on the page of alarms."""
    return entry.lower()


def link(entry: str) -> str:
    """To its section on the page of alarms."""
    return f"[`{entry}`](docs:reference/alarms.md#{anchor(entry)})"


def when(alarm: dict[str, Any]) -> str:
    """The condition, and how long it has to last."""
    period = period_of(alarm)
    compared = COMPARED[alarm["ComparisonOperator"]].format(threshold(alarm))
    return f"when {measured(alarm)} {compared}{lasting(alarm, period)}.{inputs(alarm)}"


def threshold(alarm: dict[str, Any]) -> str:
    """With its unit, if that is one of time."""
    stats = [one["MetricStat"] for one in alarm.get("Metrics", []) if "MetricStat" in one]
    names = {one["Metric"]["MetricName"] for one in [*stats, {"Metric": alarm}] if "MetricName" in one["Metric"]}
    unit = TIMES.get(names.pop()) if len(names) == 1 and alarm.get("Statistic") != "SampleCount" else None
    number = alarm["Threshold"]
    return duration(number * unit) if unit else f"{number:,}"


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
    return "it rings." if alarm["TreatMissingData"] == "missing" else "it is silent."


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
    """The logical names of each function, its mappings, its queues, and the queues of what it could not handle."""
    queues, mappings = cfn.resources("AWS::SQS::Queue"), cfn.resources("AWS::Lambda::EventSourceMapping")
    consumed = cfn.consumed()
    found: dict[str, set[str]] = {}
    for folder, function in cfn.functions().items():
        name, events = cfn.logical_names()[folder], function.get("Events", {})
        started = [one for rule in cfn.resources("AWS::Events::Rule").values() for one in rule["Targets"]]
        read = {queue for queue, consumer in consumed.items() if consumer == folder}
        left = [queues[queue].get("RedrivePolicy") for queue in read]
        failed = [one["DeadLetterConfig"] for one in started if one["Id"] == folder]
        mapped = {one for one, mapping in mappings.items() if name in logical_names(mapping["FunctionName"])}
        found[folder] = {name, *read, *mapped, *logical_names([left, failed]), *(name + event for event in events)}
    return found


def on(function: str) -> list[str]:
    """The entries of the alarms that are about a function or what it reads."""
    own = belongings()[function]
    return [entry for entry, names in entries().items() if any(watched()[name] & own for name in names)]
