"""A stack whose functions answer in this process, with their own code behind boto3's call."""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import boto3
import pytest
from attrs import define, field

from delayer_client.operator import Aws, OperatorStack
from tests.client.cli.conftest import Cli


@define
class Lambda:
    """Answers as boto3 does. `failing` says what goes wrong with which call."""

    answer: Callable[[Mapping[str, Any]], Any]
    failing: dict[int, BaseException | str] = field(factory=dict)
    events: list[dict[str, Any]] = field(factory=list)
    names: list[str] = field(factory=list)
    region_name: str = "eu-west-1"

    @property
    def meta(self) -> "Lambda":
        return self

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - boto3's names
        self.names.append(FunctionName)
        self.events.append(json.loads(Payload))
        problem = self.failing.get(len(self.events))
        if isinstance(problem, BaseException):
            raise problem
        if problem:
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps({"errorMessage": problem}).encode())}
        return {"Payload": io.BytesIO(json.dumps(self.answer(self.events[-1])).encode())}


Operating = Callable[[Lambda], Cli]


@pytest.fixture
def operating(delayer: Cli, monkeypatch: pytest.MonkeyPatch) -> Operating:
    """The command line of an operator whose calls reach this function, in a pipe; its client repeats none by itself."""
    monkeypatch.delenv("COLUMNS")

    def made(function: Lambda) -> Cli:
        session = boto3.Session(aws_access_key_id="AKIA", aws_secret_access_key="s")
        aws = Aws(session=session, region="eu-west-1", clients={("lambda", False): function})
        return delayer.with_operators(lambda session: OperatorStack(aws, session.settings.stack or "delayer"))

    return made
