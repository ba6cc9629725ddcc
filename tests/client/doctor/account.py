"""An account of AWS whose answers are in files, in the shapes that AWS documents: botocore's models check them."""

import io
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import botocore.session
from attrs import field, frozen
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator

from delayer_client.operator import Aws, OperatorStack

RECORDED = Path(__file__).parent / "recorded"
NOW = datetime.fromisoformat("2026-11-23T12:00:00+00:00")


@cache
def model_of(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


def typed(value: Any, shape: Any) -> Any:
    """As botocore reads an answer: times are datetimes."""
    match shape.type_name:
        case "structure":
            return {name: typed(one, shape.members[name]) for name, one in value.items()}
        case "list":
            return [typed(one, shape.member) for one in value]
        case "map":
            return {key: typed(one, shape.value) for key, one in value.items()}
        case "timestamp":
            return datetime.fromisoformat(value)
    return value


def checked(value: Any, shape: Any, what: str) -> None:
    errors = ParamValidator().validate(value, shape)
    assert not errors.has_errors(), f"{what}: {errors.generate_report()}"


@frozen(kw_only=True)
class Recording:
    """A file: answers by `service.Operation`, figures by `namespace name dimension`, results by function."""

    answers: dict[str, Any] = field(factory=dict)
    figures: dict[str, list[float]] = field(factory=dict)
    functions: dict[str, Any] = field(factory=dict)

    def under(self, other: Mapping[str, Any]) -> "Recording":
        """With what another file says otherwise."""
        return Recording(
            answers={**self.answers, **other.get("answers", {})},
            figures={**self.figures, **other.get("figures", {})},
            functions={**self.functions, **other.get("functions", {})},
        )


@frozen(kw_only=True)
class Client:
    """A boto3 client, as far as the doctor uses one."""

    service: str
    recording: Recording

    @property
    def meta(self) -> Any:
        return boto3.client(self.service, region_name="eu-west-1").meta  # type: ignore[call-overload] # any service

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = next(one for one in model_of(self.service).operation_names if botocore.xform_name(one) == name)
        return lambda **given: self.call(operation, given)

    def get_paginator(self, name: str) -> Any:
        call = getattr(self, name)

        class Pages:
            def paginate(self, **given: Any) -> list[Any]:
                return [call(**given)]

        return Pages()

    def call(self, operation: str, given: dict[str, Any]) -> Any:
        model = model_of(self.service).operation_model(operation)
        if model.input_shape:
            checked(given, model.input_shape, f"the call of {operation}")
        answer = self.answer(operation, given)
        if "Error" in answer:
            raise ClientError(answer, operation)
        read = typed(answer, model.output_shape)
        checked(read, model.output_shape, f"the answer of {operation}")
        return {**read, "Payload": io.BytesIO(read["Payload"])} if "Payload" in read else read

    def answer(self, operation: str, given: dict[str, Any]) -> Any:
        recorded: Any = self.recording.answers.get(f"{self.service}.{operation}", {})
        if "Error" in recorded:
            return recorded
        match operation:
            case "Invoke":
                content = {"ok": True, "result": self.recording.functions[given["FunctionName"]]}
                return {"StatusCode": 200, "Payload": json.dumps(content).encode()}
            case "GetMetricData":
                return {"MetricDataResults": [self.result(query) for query in given["MetricDataQueries"]]}
            case "GetItem" | "DescribeRule" | "GetQueueAttributes":
                [which] = [str(one) for one in (given.get("Name"), given.get("QueueUrl"), given.get("Key")) if one]
                return next((one for key, one in recorded.items() if key in which), recorded["*"])
        return recorded

    def result(self, query: Mapping[str, Any]) -> dict[str, Any]:
        metric = query["MetricStat"]["Metric"]
        names = [metric["Namespace"], metric["MetricName"], *(one["Value"] for one in metric["Dimensions"])]
        values = self.recording.figures.get(" ".join(names), [])
        times = [f"2026-11-23T11:{45 + minute}:00+00:00" for minute in range(len(values))]
        return {"Id": query["Id"], "Label": names[1], "Timestamps": times, "Values": values, "StatusCode": "Complete"}


class Clients(dict[tuple[str, bool], Any]):
    """Made when they are asked for."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: tuple[str, bool]) -> Client:
        return Client(service=key[0], recording=self.recording)


def recorded(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((RECORDED / f"{name}.json").read_text())
    return content


def a_stack(recording: Recording) -> OperatorStack:
    session = boto3.Session(aws_access_key_id="k", aws_secret_access_key="s", region_name="eu-west-1")
    aws = Aws(session=session, region="eu-west-1", clients=Clients(recording))
    return OperatorStack(aws, "delayer", "https://abc.execute-api.eu-west-1.amazonaws.com")


def well() -> Recording:
    return Recording().under(recorded("well"))
