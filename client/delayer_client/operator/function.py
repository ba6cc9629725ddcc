"""A function of the stack that carries out the commands of an operator."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError, HTTPClientError

from delayer_client.operator.answers import result_of
from delayer_client.operator.calls import NO_KEYS, NOT_SIGNED_IN, no_credentials
from delayer_client.operator.errors import Interrupted, NoStack, OperatorError, of_refusal

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

READING: Final = ("list", "show", "try")  # commands that change nothing
OVER_SOON: Final = ("TooManyRequestsException", "ThrottlingException", "Throttling", "ServiceException")


class OperatorFunction:
    """One command is one invocation, whose payload and answer are JSON."""

    def __init__(self, client: "LambdaClient", name: str, before_change: Callable[[], None] | None = None) -> None:
        self.client = client  # without retries of its own: see credentials.ONCE
        self.name = name
        self.before_change = before_change  # called before each command that changes something; may raise

    def __call__(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The result of one command. Raises Refused, Interrupted, NotAllowed, NoStack, NoCredentials."""
        if self.before_change and event["command"] not in READING and not event.get("dryRun"):
            self.before_change()
        return result_of(self.name, *self._invoked(event))

    def _invoked(self, event: Mapping[str, Any]) -> tuple[bool, Any]:
        """Whether the function failed, and what it answered."""
        try:
            answer = self.client.invoke(FunctionName=self.name, Payload=json.dumps(event).encode())
            return bool(answer.get("FunctionError")), json.loads(answer["Payload"].read() or "null")
        except ClientError as error:
            raise self._translated(error) from error
        except (EndpointConnectionError, HTTPClientError) as error:
            raise Interrupted(str(error)) from error
        except (*NO_KEYS, *NOT_SIGNED_IN) as error:
            raise no_credentials(error) from error
        except BotoCoreError as error:
            raise OperatorError(str(error)) from error

    def _translated(self, error: ClientError) -> OperatorError:
        code, said = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
        if code == "ResourceNotFoundException":
            where = self.client.meta.region_name
            return NoStack(f"There is no function {self.name} in {where}: check --stack, the region, the account.")
        if refused := of_refusal(f"lambda:InvokeFunction on {self.name}", code, said):
            return refused
        return Interrupted(str(error)) if _is_over_soon(error) else OperatorError(str(error))


def _is_over_soon(error: ClientError) -> bool:
    """To repeat the call helps only if AWS was too busy; another refusal is the same each time."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    too_much = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return too_much or error.response["Error"]["Code"] in OVER_SOON
