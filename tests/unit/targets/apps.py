"""The functions of executors, each loaded from its folder as Lambda does, without any environment variable."""

import importlib.util
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest.mock import patch

from delayer.actions.rules.model import Result
from delayer.schedule.messages import ExecutorMessage
from tests.cfn import ROOT

KINDS = ["canary", "event-put", "http-request", "lambda-invoke", "sns-publish", "sqs-send", "step-start"]  # built in


def app_of(kind: str) -> ModuleType:
    """The module of this action's executor, a new one each time."""
    path = ROOT / f"functions/executor-{kind}/app.py"
    spec = importlib.util.spec_from_file_location(f"app_of_executor_{kind.replace('-', '_')}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with patch.dict(os.environ, clear=True):
        spec.loader.exec_module(module)
    return module


def target_of(kind: str) -> Any:
    """Port Target."""
    return app_of(kind).handler.target


ENVIRONMENT = {
    "ACCOUNT": "123456789012",
    "AWS_REGION": "eu-west-1",
    "STACK": "delayer",
    "TARGET_REGIONS": "eu-west-1,us-east-2",
    "SQS_TARGET_REGIONS": "eu-west-1,us-east-2",
    "OWN_QUEUE": "https://sqs.eu-west-1.amazonaws.com/123456789012/cut-SqsSendQue-Gh12Ij34Kl56",
    "OWN_TOPICS": "arn:aws:sns:eu-west-1:123456789012:delayer-LifecycleTopic-Ab12Cd34Ef56",
    "TARGET_ROLE_ARNS": "",
}


def reach(kind: str, message: ExecutorMessage, client_for: Callable[..., Any], **variables: str) -> Result:
    """One attempt, with clients from `client_for`: it is given the service, the region and what else is asked for."""
    target = target_of(kind)
    with (
        patch.dict(os.environ, {**ENVIRONMENT, **variables}),
        patch("delayer.targets.aws_call.target_client", client_for),
    ):
        result: Result = target(message)
    return result
