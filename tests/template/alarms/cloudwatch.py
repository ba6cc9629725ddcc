"""How CloudWatch evaluates an alarm of the template, minute by minute, as its pages say.

A new alarm has the state INSUFFICIENT_DATA. It is evaluated each minute; actions are for a change of the state only.
Data that are missing in some of the periods are taken as TreatMissingData says; with `missing`, the alarm decides by
what there is, and has no data if there is none at all in the periods and a few before them.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

from attrs import field, frozen

from tests.cfn import logical

Values = Callable[[int], Sequence[float]]  # what is written in a minute
OK: Final = "OK"
ALARM: Final = "ALARM"
NO_DATA: Final = "INSUFFICIENT_DATA"
MORE: Final = 2  # periods before those of the alarm, in which CloudWatch looks for data
COMPARED: Final[dict[str, Callable[[float, float], bool]]] = {
    "GreaterThanOrEqualToThreshold": lambda value, threshold: value >= threshold,
    "GreaterThanThreshold": lambda value, threshold: value > threshold,
    "LessThanThreshold": lambda value, threshold: value < threshold,
}
STATISTICS: Final[dict[str, Callable[[Sequence[float]], float]]] = {
    "Sum": sum,
    "Maximum": max,
    "Minimum": min,
    "SampleCount": len,
    "p50": lambda values: sorted(values)[math.ceil(len(values) * 0.5) - 1],
    "p99": lambda values: sorted(values)[math.ceil(len(values) * 0.99) - 1],
}


@frozen(order=True)
class Name:
    """A metric: its name, and the logical name of what it is about."""

    metric: str
    about: str


@frozen
class Metrics:
    """What the stack and AWS write. What is not in it is never written."""

    values: Mapping[Name, Values] = field(factory=dict)

    def of(self, name: Name, minutes: range) -> list[float]:
        """All that is written in these minutes."""
        write = self.values.get(name)
        return [value for minute in minutes if write and minute >= 0 for value in write(minute)]


def name_of(metric: Mapping[str, Any]) -> Name:
    """In an alarm, or in a part of its expression."""
    [dimension] = metric["Dimensions"]
    name = metric["MetricName"]
    return Name(name if isinstance(name, str) else name["Fn::Sub"], logical(dimension["Value"]))


def names_in(alarm: Mapping[str, Any]) -> set[Name]:
    """All metrics of an alarm."""
    parts = [one["MetricStat"]["Metric"] for one in alarm.get("Metrics", []) if "MetricStat" in one]
    return {name_of(one) for one in parts or [alarm]}


def states(alarm: Mapping[str, Any], metrics: Metrics, born: int, until: int) -> list[str]:
    """From the minute in which the alarm is created."""
    found, length = [NO_DATA], _period(alarm) // 60
    value = cache(lambda begin: _value(alarm, metrics, begin, length))  # each period is looked at for many minutes
    for minute in range(born, until):
        found.append(_state(alarm, value, minute, found[-1]))
    return found


def notified(alarm: Mapping[str, Any], changes: Sequence[str]) -> list[str]:
    """The states of which the topic is notified, but for those in which all is well."""
    actions = {ALARM: "AlarmActions", NO_DATA: "InsufficientDataActions"}
    pairs = pairwise(changes)
    return [now for before, now in pairs if now != before and now in actions and alarm.get(actions[now])]


def _state(alarm: Mapping[str, Any], value: Callable[[int], float | None], minute: int, before: str) -> str:
    periods = alarm["EvaluationPeriods"]
    length = _period(alarm) // 60
    end = (minute // length) * length  # the last period that is over
    looked_at = [value(end - length * (at + 1)) for at in range(periods + MORE)]
    if all(one is None for one in looked_at):
        return {"missing": NO_DATA, "notBreaching": OK, "breaching": ALARM, "ignore": before}[alarm["TreatMissingData"]]
    taken = _taken(alarm, looked_at)
    breaching = sum(taken)
    return ALARM if breaching >= alarm.get("DatapointsToAlarm", periods) else OK


def _taken(alarm: Mapping[str, Any], looked_at: Sequence[float | None]) -> list[bool]:
    """Whether each of its periods is breaching. Older data take the place of those that are missing."""
    compare = COMPARED[alarm["ComparisonOperator"]]
    given = [compare(value, alarm["Threshold"]) for value in looked_at if value is not None]
    periods = alarm["EvaluationPeriods"]
    if alarm["TreatMissingData"] == "missing":
        return given[:periods]
    filled = [None if value is None else compare(value, alarm["Threshold"]) for value in looked_at[:periods]]
    return [alarm["TreatMissingData"] == "breaching" if one is None else one for one in filled]


def _period(alarm: Mapping[str, Any]) -> int:
    parts = [one["MetricStat"]["Period"] for one in alarm.get("Metrics", []) if "MetricStat" in one]
    return int(alarm.get("Period") or parts[0])


def _value(alarm: Mapping[str, Any], metrics: Metrics, begin: int, length: int) -> float | None:
    minutes = range(begin, begin + length)
    if "Metrics" not in alarm:
        return _statistic(alarm["Statistic"], metrics.of(name_of(alarm), minutes))
    parts = {
        one["Id"]: _statistic(one["MetricStat"]["Stat"], metrics.of(name_of(one["MetricStat"]["Metric"]), minutes))
        for one in alarm["Metrics"]
        if "MetricStat" in one
    }
    [expression] = [one["Expression"] for one in alarm["Metrics"] if "Expression" in one]
    return calculated(expression, parts)


def _statistic(name: str, values: Sequence[float]) -> float | None:
    return STATISTICS[name](values) if values else None


class _Missing(Exception):
    """A part has no value in this period, so the whole has none."""


def calculated(expression: str, parts: Mapping[str, float | None]) -> float | None:
    """CloudWatch's metric math, as far as it is used here: IF, FILL, the four rules, comparisons."""

    def filled(name: str, value: float) -> float:
        found = parts[name]
        return value if found is None else found

    class Given(dict[str, Any]):
        def __missing__(self, name: str) -> float:
            found = parts[name]
            if found is None:
                raise _Missing
            return found

    text = re.sub(r"FILL\((\w+), ", r"FILL('\1', ", expression)
    text = re.sub(r"IF\((.+?), (.+), (.+)\)", r"((\2) if (\1) else (\3))", text)
    try:
        return float(eval(text, {"__builtins__": {}}, Given(FILL=filled)))
    except _Missing:
        return None
