"""Looks at the readers of the queues and the streams, and how far behind they are."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from delayer_client.operator.doctor.facts import CanaryFacts, FunctionFacts, Reader, StreamFacts
from delayer_client.operator.doctor.gather.metrics import Metric, figures
from delayer_client.operator.doctor.gather.stack import changed_at
from delayer_client.operator.stack import OperatorStack

STRAY: Final = "StrayPercents"


def look(stack: OperatorStack, _: datetime) -> Sequence[Reader]:
    """All mappings of the stack, those that are gone with an empty state."""
    known = {one["UUID"]: one for one in _mappings(stack)}
    return [
        _reader(one.logical_id, known.get(one.physical_id, {}))
        for one in stack.resources_of("AWS::Lambda::EventSourceMapping")
    ]


def _mappings(stack: OperatorStack) -> list[dict[str, Any]]:
    """Of all functions of the account: one call for a hundred, instead of one for each of the stack's functions."""
    pages = stack.client("lambda").get_paginator("list_event_source_mappings").paginate()
    return [one for page in pages for one in page["EventSourceMappings"]]


def _reader(name: str, mapping: dict[str, Any]) -> Reader:
    return Reader(
        name=name,
        function=mapping.get("FunctionArn", "").rpartition(":")[2],
        source=mapping.get("EventSourceArn", ""),
        state=mapping.get("State", ""),
        last_result=mapping.get("LastProcessingResult", ""),
        reason=mapping.get("StateTransitionReason", ""),
    )


def look_at_streams(stack: OperatorStack, now: datetime) -> StreamFacts:
    """Of each function that reads a stream, the greatest IteratorAge of the last minutes."""
    readers = {one.function for one in look(stack, now) if ":dynamodb:" in one.source and one.function}
    wanted = {
        name: Metric(namespace="AWS/Lambda", name="IteratorAge", dimensions={"FunctionName": name}, statistic="Maximum")
        for name in sorted(readers)
    }
    return StreamFacts(
        behind={name: max(values[-5:], default=None) for name, values in figures(stack, wanted, now).items()}
    )


def look_at_canary(stack: OperatorStack, now: datetime) -> CanaryFacts:
    """The measurements of executor-canary."""
    wanted = {
        path: Metric(
            namespace="Delayer",
            name=f"Canary{path}Lateness",
            dimensions={"service": stack.name},
            statistic="Maximum",
        )
        for path in ("Near", "Far")
    }
    found = figures(stack, wanted, now)
    return CanaryFacts(
        is_on=stack.parameters.get("Canary", "on") == "on",
        near=found["Near"],
        far=found["Far"],
        created_at=changed_at(stack),
        period_seconds=int(stack.parameters.get("DelayerPeriod", "840")),
    )


def look_at_functions(stack: OperatorStack, now: datetime) -> FunctionFacts:
    """Errors and throttles of all functions of the stack, and what the executor of `http-request` has counted."""
    names = [one.physical_id for one in stack.resources_of("AWS::Lambda::Function")]
    wanted = {
        (name, what): Metric(namespace="AWS/Lambda", name=what, dimensions={"FunctionName": name}, statistic="Sum")
        for name in names
        for what in ("Errors", "Throttles")
    }
    by_key = {f"{name} {what}": metric for (name, what), metric in wanted.items()}
    by_key[STRAY] = Metric(namespace="Delayer", name=STRAY, dimensions={"service": stack.name}, statistic="Sum")
    found = {key: sum(values) for key, values in figures(stack, by_key, now).items() if sum(values)}
    return FunctionFacts(
        errors={key.split()[0]: number for key, number in found.items() if key.endswith(" Errors")},
        throttles={key.split()[0]: number for key, number in found.items() if key.endswith(" Throttles")},
        stray_percents=found.get(STRAY, 0),
    )
