"""Each function acts under its own role: its process was forked from one that all share, and has inherited nothing.

The code of every function is replaced by a probe. Role, variables, layers and handler's name stay, so the probe runs in
the process that the function would have.
"""

import io
import json
import os
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from local.deployment.settings import STACK_NAME
from local.stack.emulated_stack import EmulatedStack

pytestmark = pytest.mark.thorough

PROBE = """
import os, sys
import boto3
from botocore.exceptions import ClientError

HAS_LAYER = "delayer.wiring.use_cases" in sys.modules
FOREIGN = (("iam", "list_roles"), ("dynamodb", "list_tables"), ("sqs", "list_queues"))

def code_of(service, call):
    try:
        getattr(boto3.client(service), call)()
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "allowed"

def handler(event, context):
    return {
        "arn": boto3.client("sts").get_caller_identity()["Arn"],
        "key": os.environ["AWS_ACCESS_KEY_ID"],
        "secret": os.environ["AWS_SECRET_ACCESS_KEY"],
        "codes": [code_of(*each) for each in FOREIGN],
        "has_layer": HAS_LAYER,
        "parent": os.getppid(),
    }
"""


@pytest.fixture(scope="module")
def answers() -> Iterator[dict[str, dict[str, Any]]]:
    """Of the probe, by the name of the function."""
    parameters = {"DelayerPeriod": "60", "Lifecycle": "journal"}
    with EmulatedStack(parameters=parameters, starts_functions=False) as stack:
        functions = stack.client("lambda")
        found = {}
        for page in functions.get_paginator("list_functions").paginate():
            for config in page["Functions"]:
                name = config["FunctionName"]
                functions.update_function_code(FunctionName=name, ZipFile=probe_at(config["Handler"]))
                answer = functions.invoke(FunctionName=name, Payload=b"{}")
                found[name] = {**json.load(answer["Payload"]), "role": config["Role"], "layers": config.get("Layers")}
        yield found


def probe_at(handler: str) -> bytes:
    """An archive with the probe where this handler is looked for."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(handler.rpartition(".")[0].replace(".", "/") + ".py", PROBE)
    return buffer.getvalue()


def test_every_function_is_denied_what_its_role_does_not_allow(answers: dict[str, dict[str, Any]]) -> None:
    """An inherited client would act as root, or as another function."""
    assert len(answers) > 40
    wrong = {name: codes for name, each in answers.items() if "allowed" in (codes := each["codes"])}
    assert wrong == {}
    assert {code for each in answers.values() for code in each["codes"]} <= {"AccessDenied", "AccessDeniedException"}


def test_every_function_is_known_by_its_own_role_and_name(answers: dict[str, dict[str, Any]]) -> None:
    for name, each in answers.items():
        role = each["role"].rpartition("/")[2]
        assert each["arn"].endswith(f":assumed-role/{role}/{name}"), name
        assert name.startswith(STACK_NAME)


def test_no_two_functions_have_the_same_keys(answers: dict[str, dict[str, Any]]) -> None:
    for kind in ("key", "secret"):
        assert len({each[kind] for each in answers.values()}) == len(answers)


def test_those_with_a_layer_are_forked_from_one_process_that_has_it(
    answers: dict[str, dict[str, Any]],
) -> None:
    with_layer = [each for each in answers.values() if each["layers"]]
    assert with_layer
    assert all(each["has_layer"] for each in with_layer)
    assert len({each["parent"] for each in with_layer}) == 1
    assert os.getpid() not in {each["parent"] for each in with_layer}
