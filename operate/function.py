"""A function of a stack that carries out the commands of an operator, as a program of his calls it."""

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

# A call may take 40 s or more. A second call of botocore's own, while the first still runs, would double the pace.
CONFIG: Final = Config(read_timeout=90, connect_timeout=5, retries={"total_max_attempts": 1, "mode": "standard"})

Say = Callable[[str], None]


class Failed(Exception):
    """The command cannot be carried out; the text says why, and what to do."""


class Interrupted(Exception):
    """A call was not answered, or not in full. It may have done its work; to repeat it does no harm."""


def add_stack(parser: argparse.ArgumentParser) -> None:
    """The option that every command has."""
    parser.add_argument("--stack", default="delayer", metavar="NAME", help="name of the stack (default: delayer)")


class Function:
    """The function of the stack that does the work."""

    def __init__(self, client: "LambdaClient", name: str) -> None:
        self.client = client
        self.name = name

    def __call__(self, event: dict[str, Any]) -> dict[str, Any]:
        """The result of one command. Raises Failed or Interrupted."""
        try:
            answer = self.client.invoke(FunctionName=self.name, Payload=json.dumps(event).encode())
            content = json.loads(answer["Payload"].read())
        except ClientError as error:
            raise self._translated(error) from error
        except HTTPClientError as error:
            raise Interrupted(str(error)) from error
        except BotoCoreError as error:  # no credentials, no region, nobody at the endpoint
            raise Failed(str(error)) from error
        if answer.get("FunctionError"):
            raise Interrupted(f"{self.name} failed: {content.get('errorMessage', content)}")
        if not content["ok"]:
            raise Failed(content["error"])
        result: dict[str, Any] = content["result"]
        return result

    def _translated(self, error: ClientError) -> Exception:
        match error.response["Error"]["Code"]:
            case "ResourceNotFoundException":
                where = self.client.meta.region_name
                return Failed(f"There is no function {self.name} in {where}: check --stack, the region, the account.")
            case "AccessDeniedException" | "UnrecognizedClientException" | "ExpiredTokenException" as code:
                return Failed(f"AWS refused the call ({code}): {error.response['Error'].get('Message', '')}")
        return Interrupted(str(error))


def printable(text: str) -> str:
    """Reasons may quote what others sent: nothing in them may command a terminal."""
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in text)
