"""Creates the stack of a template in the emulator."""

import json
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from local.aws_clients import AwsClients
from local.deployment.package import Package, package
from local.deployment.settings import PARAMETERS_ON_ONE_MACHINE, STACK_NAME
from local.errors import EmulatorError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import ParameterTypeDef, StackTypeDef
    from mypy_boto3_s3 import S3Client

CODE_BUCKET = "delayer-code"
TEMPLATE_KEY = "template.json"
CREATION_SECONDS = 120
POLL_SECONDS = 0.05
LONGEST = 400  # characters of a message


def packaged_from(template_file: Path, parameters: Mapping[str, str]) -> Package:
    """The template and the code, as they are uploaded. It needs no emulator yet. Errors: EmulatorError."""
    return package(template_file, CODE_BUCKET, parameters)


def deploy(clients: AwsClients, packaged: Package, parameters: Mapping[str, str]) -> dict[str, str]:
    """Upload the code, create the stack, wait for it; its outputs.

    Errors: EmulatorError with the reason of the first resource that failed.
    """
    declared = packaged.template.get("Parameters", {})
    arguments = parameters_for(declared, parameters, packaged.settled)
    try:
        upload(clients.client("s3"), packaged)
        create(clients.client("cloudformation"), arguments)
        return outputs_of(wait_for(clients.client("cloudformation")))
    except (ClientError, BotoCoreError) as error:
        message = error.response["Error"].get("Message") if isinstance(error, ClientError) else None
        raise EmulatorError(f"The stack could not be created: {one_line(message or error)}") from error


def parameters_for(
    declared: Mapping[str, Any], given: Mapping[str, str], settled: Collection[str] = ()
) -> "list[ParameterTypeDef]":
    """CloudFormation's list of parameters; EmulatorError for a name that the template does not declare."""
    wanted = {name: value for name, value in given.items() if name not in settled}
    unknown = sorted(wanted.keys() - declared.keys())
    if unknown:
        known = ", ".join(sorted({*declared, *settled})) or "none"
        raise EmulatorError(f"The template has no parameter {unknown[0]}; it has: {known}.")
    defaults = {name: value for name, value in PARAMETERS_ON_ONE_MACHINE.items() if name in declared}
    return [{"ParameterKey": name, "ParameterValue": value} for name, value in {**defaults, **wanted}.items()]


def upload(s3: "S3Client", packaged: Package) -> None:
    """Put the archives and the template, which is too long for a request, into a bucket of the emulator."""
    s3.create_bucket(Bucket=CODE_BUCKET)
    s3.put_object(Bucket=CODE_BUCKET, Key=TEMPLATE_KEY, Body=json.dumps(packaged.template, default=str))
    for key, archive in packaged.archives.items():
        s3.put_object(Bucket=CODE_BUCKET, Key=key, Body=archive)


def create(cloudformation: "CloudFormationClient", parameters: "list[ParameterTypeDef]") -> None:
    """Start to create the stack."""
    cloudformation.create_stack(
        StackName=STACK_NAME,
        TemplateURL=f"https://s3.amazonaws.com/{CODE_BUCKET}/{TEMPLATE_KEY}",
        Parameters=parameters,
        Capabilities=["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
    )


def wait_for(cloudformation: "CloudFormationClient") -> "StackTypeDef":
    """The created stack; EmulatorError if it failed or takes too long."""
    deadline = time.monotonic() + CREATION_SECONDS
    while time.monotonic() < deadline:
        stack = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]
        if stack["StackStatus"] == "CREATE_COMPLETE":
            return stack
        if not stack["StackStatus"].endswith("_IN_PROGRESS"):
            raise EmulatorError(f"The stack could not be created: {first_failure(cloudformation, stack)}")
        time.sleep(POLL_SECONDS)
    raise EmulatorError(f"The stack was not created within {CREATION_SECONDS} s.")


def first_failure(cloudformation: "CloudFormationClient", stack: "StackTypeDef") -> str:
    """The reason that the first failed resource gives."""
    events = cloudformation.describe_stack_events(StackName=STACK_NAME)["StackEvents"]
    for event in sorted(events, key=lambda event: event["Timestamp"]):
        if event["ResourceStatus"].endswith("_FAILED"):
            return f"{event['LogicalResourceId']}: {one_line(event.get('ResourceStatusReason', 'no reason given'))}"
    return one_line(stack.get("StackStatusReason", stack["StackStatus"]))


def outputs_of(stack: "StackTypeDef") -> dict[str, str]:
    """The outputs of a stack by name."""
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}


def one_line(text: object) -> str:
    """A message on one line. The middle of a long one is left out: some messages quote a whole template."""
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
