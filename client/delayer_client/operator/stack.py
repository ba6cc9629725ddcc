"""A stack, as an operator with AWS credentials finds it."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from botocore.exceptions import BotoCoreError, ClientError

from delayer_client.operator.calls import asking
from delayer_client.operator.credentials import Aws, find_credentials, without_user_info
from delayer_client.operator.errors import NoStack, NotAllowed
from delayer_client.operator.function import OperatorFunction
from delayer_client.operator.operated import Operated

DEFAULT_STACK: Final = "delayer"
LOG: Final = logging.getLogger(__name__)  # without a handler, warnings go to standard error


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One resource of the stack."""

    logical_id: str  # its name in the template
    physical_id: str
    type: str  # such as AWS::SQS::Queue


class OperatorStack(Operated):
    """Nothing is asked before it is needed: who may only invoke an operator's function can use that one.

    `dead_letters`, `owner_policies` and `flow` are what operators do. Errors of all: OperatorError. Before they change
    something, the stack is compared with the URL, if it may be read.
    """

    def __init__(self, aws: Aws, name: str = DEFAULT_STACK, url: str = "") -> None:
        self.aws = aws
        self.name = name
        self.url = url.rstrip("/")  # of its API; empty if it was not given
        self._shown = without_user_info(self.url)
        self._is_warned = False

    @classmethod
    def find(
        cls,
        url: str = "",
        stack: str = DEFAULT_STACK,
        *,
        folder: Path | None = None,
        region: str = "",
        profile: str = "",
    ) -> Self:
        """By the URL of its API, by its name, or by both. Raises NoCredentials.

        With the URL of one machine, such as http://localhost:8080, the credentials are those that `make local-aws` has
        written into `.local/8080/aws.env` of `folder` (that of the process) or of one above it; otherwise boto3's.
        """
        return cls(find_credentials(url, folder=folder, region=region, profile=profile), stack, url)

    @property
    def region(self) -> str:
        """Where it is."""
        return self.aws.region

    @property
    def is_local(self) -> bool:
        """Whether it is on the emulator of one machine."""
        return self.aws.is_local

    def client(self, service: str) -> Any:
        """A boto3 client for its account and region."""
        return self.aws.client(service)

    def function_name(self, function: str) -> str:
        """In AWS: `delayer-operator-flow` for `operator-flow`."""
        return f"{self.name}-{function}"

    def function(self, name: str) -> OperatorFunction:
        """As Operated."""
        return OperatorFunction(self.aws.client("lambda", retried=False), self.function_name(name), self.confirm)

    def confirm(self) -> None:
        """Before something is changed: that this is the stack of the URL. Raises NoStack if it is another one.

        If it cannot be known, a warning is logged, once.
        """
        if self._doubt and not self._is_warned:
            LOG.warning(self._doubt)
            self._is_warned = True

    @cached_property
    def _doubt(self) -> str:
        """Why it cannot be known whether this is the stack of the URL; empty if it is, or if there is no URL."""
        if not self.url or self.is_local:  # on one machine the credentials are those of the URL's port
            return ""
        changed = f"What is changed is the stack {self.name} in {self.region}. Whether {self._shown} leads to it"
        try:
            served = self.outputs.get("ApiUrl", "")
        except NotAllowed as error:
            return f"{changed} was not checked, for that needs the permission {error.permission}."
        return "" if _is_of_aws(self.url) and served else f"{changed} cannot be seen: it serves {served or 'no URL'}."

    @cached_property
    def description(self) -> Mapping[str, Any]:
        """As CloudFormation describes it. Raises NoStack, NotAllowed (cloudformation:DescribeStacks)."""
        try:
            with asking("cloudformation:DescribeStacks"):
                [described] = self.client("cloudformation").describe_stacks(StackName=self.name)["Stacks"]
        except (ClientError, BotoCoreError, ValueError) as error:
            raise NoStack(
                f"The stack {self.name} cannot be read in {self.region} ({error}). Give its name (--stack), "
                "its region, and credentials of its account."
            ) from error
        found: Mapping[str, Any] = described
        self._check_url(_by_key(found.get("Outputs", ()), "Output").get("ApiUrl", ""))
        return found

    def _check_url(self, served: str) -> None:
        if _is_of_aws(self.url) and served and self.url.lower() != served.rstrip("/").lower():
            raise NoStack(f"The stack {self.name} serves {served}, not {self._shown}. Name the other one with --stack.")

    @property
    def outputs(self) -> Mapping[str, str]:
        """By their names. Raises as description does."""
        return _by_key(self.description.get("Outputs", ()), "Output")

    @property
    def parameters(self) -> Mapping[str, str]:
        """By their names. Raises as description does."""
        return _by_key(self.description.get("Parameters", ()), "Parameter")

    @property
    def status(self) -> str:
        """CloudFormation's own word. Raises as description does."""
        return str(self.description.get("StackStatus", ""))

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """All that it has. Raises NotAllowed (cloudformation:ListStackResources), NoStack."""
        with asking("cloudformation:ListStackResources"):
            pages = self.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=self.name)
            return tuple(
                Resource(
                    logical_id=one["LogicalResourceId"],
                    physical_id=one.get("PhysicalResourceId", ""),
                    type=one["ResourceType"],
                )
                for page in pages
                for one in page["StackResourceSummaries"]
            )

    def resources_of(self, kind: str) -> list[Resource]:
        """Returns the resources of one type, such as AWS::SQS::Queue."""
        return [one for one in self.resources if one.type == kind]


def _by_key(entries: Iterable[Mapping[str, str]], what: str) -> dict[str, str]:
    return {one[f"{what}Key"]: one[f"{what}Value"] for one in entries}


def _is_of_aws(url: str) -> bool:
    """Whether it is API Gateway's own address of an API, which the stack's output has; not a domain of the owner's."""
    return ".execute-api." in url.lower()
