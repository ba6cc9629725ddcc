"""How a function starts: it collects no garbage, and its clients share a session that reads what they need (ADR 0117).

boto3 would add resources and the transfer manager of S3, which nothing here uses, and some 14 ms to each cold start.
"""

import gc
import json
import os
from functools import cache
from pathlib import Path
from typing import Any, Final

from botocore.config import Config
from botocore.loaders import Loader
from botocore.session import Session

STARTING: Final = 300_000  # objects, more than an import makes; a process that never becomes ready still collects
READY: Final = gc.get_threshold()  # Python's own, which differs from version to version
IN_LAMBDA: Final = "AWS_LAMBDA_FUNCTION_NAME"  # Lambda's own; a test or a tool that imports this keeps its collector
SERVICES: Final = (
    "dynamodb",
    "events",
    "lambda",
    "s3",
    "secretsmanager",
    "sns",
    "sqs",
    "stepfunctions",
    "sts",
)
IN_THE_BODY: Final = frozenset({"dynamodb", "sqs"})  # all parameters are
ENDPOINTS: Final = str(Path(__file__).with_name("endpoints.json"))  # `make endpoints` writes it


def rest() -> None:
    """From the first import on."""
    if IN_LAMBDA in os.environ:
        gc.set_threshold(STARTING)


def work() -> None:
    """The function is ready. What it has imported is not looked at by any later collection either."""
    if gc.get_threshold()[0] == STARTING:
        gc.freeze()
        gc.set_threshold(*READY)


class LeanLoader(Loader):
    """Knows the services without a look into each of botocore's four hundred folders, and their endpoints alone."""

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002 - botocore asks so
        """Of what there is no file, botocore says so when it looks for it."""
        return list(SERVICES)

    def load_data_with_path(self, name: str) -> Any:
        """The path tells botocore whether the endpoints are its own; they are, but for services that nobody calls."""
        if name != "endpoints":
            return super().load_data_with_path(name)
        return json.loads(Path(ENDPOINTS).read_bytes()), str(Path(self.BUILTIN_DATA_PATH) / "endpoints")


@cache
def shared_session() -> Session:
    """Made once in each execution environment. The models that it has read serve each further client."""
    session = Session()
    session.register_component("data_loader", LeanLoader())
    return session


def make_client(service: str, config: Config | None = None, **given: Any) -> Any:
    """A client of one of the services. One thread may make one at a time.

    The header User-Agent is what it is for every botocore of this version. Without this setting, botocore would put it
    together from a dozen parts twice for each call, which is a sixth of the call's processor time.
    """
    session = shared_session()
    application = os.environ.get("AWS_SDK_UA_APP_ID", "")  # by it, CloudTrail and the meter tell the functions apart
    named = f"{session.user_agent()} app/{application}" if application else session.user_agent()
    plain = Config(user_agent=named)
    return session.create_client(service, config=plain.merge(config) if config else plain, **given)


def unchecked(service: str) -> Config:
    """In Lambda, our own requests to DynamoDB and SQS are not compared with botocore's model once more.

    They are made by our adapters, whose contract tests have clients that compare; and AWS checks each request itself.
    Where a parameter is a part of the address, as the key of an object in S3, an empty one would name something else.
    """
    return Config(parameter_validation=not (service in IN_THE_BODY and IN_LAMBDA in os.environ))
