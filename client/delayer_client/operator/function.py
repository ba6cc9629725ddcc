"""A function of the stack that carries out the commands of an operator."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, NoCredentialsError, NoRegionError

from delayer_client.operator.errors import (
    Interrupted,
    NoCredentials,
    NoStack,
    OperatorError,
    Refused,
    of_refusal,
)

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


class OperatorFunction:
    """One command is one invocation, whose payload and answer are JSON."""

    def __init__(self, client: "LambdaClient", name: str) -> None:
        self.client = client  # without retries of its own: see credentials.ONCE
        self.name = name

    def __call__(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The result of one command. Raises Refused, Interrupted, NotAllowed, NoStack, NoCredentials."""
        try:
            answer = self.client.invoke(FunctionName=self.name, Payload=json.dumps(event).encode())
            content = json.loads(answer["Payload"].read() or "null")
        except ClientError as error:
            raise self._translated(error) from error
        except HTTPClientError as error:
            raise Interrupted(str(error)) from error
        except (NoCredentialsError, NoRegionError) as error:
            raise NoCredentials(str(error)) from error
        except BotoCoreError as error:
            raise OperatorError(str(error)) from error
        if answer.get("FunctionError"):
            why = content.get("errorMessage", content) if isinstance(content, dict) else content
            raise Interrupted(f"{self.name} failed: {why}")
        if not content["ok"]:
            raise Refused(content["error"])
        result: dict[str, Any] = content["result"]
        return result

    def _translated(self, error: ClientError) -> OperatorError:
        code, said = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
        if code == "ResourceNotFoundException":
            where = self.client.meta.region_name
            return NoStack(f"There is no function {self.name} in {where}: check --stack, the region, the account.")
        return of_refusal(f"lambda:InvokeFunction on {self.name}", code, said) or Interrupted(str(error))
