"""The session of botocore that all clients of a function share. It reads no more than these need (ADR 0117).

boto3 would add resources and the transfer manager of S3, which nothing here uses, and 14 ms to each cold start.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from botocore.loaders import Loader
from botocore.session import Session

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
ENDPOINTS: Final = str(Path(__file__).with_name("endpoints.json"))  # `make endpoints` writes it


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


def make_client(service: str, **given: Any) -> Any:
    """A client of one of the services. One thread may make one at a time."""
    return shared_session().create_client(service, **given)
