"""boto3 clients, made once per execution environment."""

import logging
import os
import time
from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from attrs import define, field
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, EndpointConnectionError

from delayer.engines.aws.bounded_calls import bounded
from delayer.engines.aws.start import make_client, unchecked

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

    from delayer.engines.aws.secrets import SecretsManagerClient


Service = Literal["dynamodb", "sqs", "sns", "s3", "lambda", "sts", "secretsmanager"]

AWS_ERRORS: Final = (BotoCoreError, ClientError)

log = logging.getLogger("delayer.engines")  # for what an adapter reports by its result instead of raising

# These timeouts are of one attempt; what a whole call may take follows from the invocation (ADR 0073). Twenty
# connections, because that many attempts are made side by side (ADR 0113).
CONFIG: Final = Config(
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "total_max_attempts": 3},  # `max_attempts` would be the retries alone
    max_pool_connections=20,
    tcp_keepalive=True,
)
# A function that is asked may be cold, and works for a while; asked twice, it would work twice.
PATIENT: Final = CONFIG.merge(Config(read_timeout=20, retries={"mode": "standard", "total_max_attempts": 1}))
WAITING: Final = PATIENT.merge(Config(read_timeout=30))  # for an attempt, which takes no longer
LONGEST_RUN: Final = 90  # seconds; an executor takes 85 at most
OF_SUSPECTS: Final = PATIENT.merge(Config(read_timeout=LONGEST_RUN))
FAIL_FAST: Final = CONFIG.merge(
    Config(connect_timeout=0.3, read_timeout=0.5, retries={"mode": "standard", "total_max_attempts": 2})
)
# Of SQS. A message that is given back twice would be visible while another function has it: the second time is late.
SENDS: Final = ("SendMessage", "SendMessageBatch", "ChangeMessageVisibilityBatch")
NO_CONNECTION: Final = (EndpointConnectionError, ConnectTimeoutError)
THROTTLED: Final = frozenset({"RequestThrottled", "Throttling", "ThrottlingException"})  # said with a 5xx, too
IDLE: Final = 10  # seconds that a connection may be unused; AWS closes it after a time that it does not name


@overload
def client(service: Literal["dynamodb"], region: str | None = None) -> "DynamoDBClient": ...
@overload
def client(service: Literal["sqs"], region: str | None = None) -> "SQSClient": ...
@overload
def client(service: Literal["sns"], region: str | None = None) -> "SNSClient": ...
@overload
def client(service: Literal["s3"], region: str | None = None) -> "S3Client": ...
@overload
def client(service: Literal["secretsmanager"], region: str | None = None) -> "SecretsManagerClient": ...
@overload
def client(service: Literal["lambda"], region: str | None = None) -> "LambdaClient": ...
def client(service: Service, region: str | None = None) -> object:
    """botocore finds the endpoint itself (`AWS_ENDPOINT_URL`)."""
    return kept_client(service, region or os.environ.get("AWS_REGION"), PATIENT if service == "lambda" else CONFIG)


def fail_fast_dynamodb() -> "DynamoDBClient":
    """For a view that others can do without: its callers should not wait for it.

    It tries twice: a connection that was kept over an idle phase is often dead, and fails at once.
    """
    return kept_client("dynamodb", os.environ.get("AWS_REGION"), FAIL_FAST)  # type: ignore[return-value] # its own service


def waiting_lambda() -> "LambdaClient":
    """For functions whose answer is the result of an attempt."""
    return kept_client("lambda", os.environ.get("AWS_REGION"), WAITING)  # type: ignore[return-value] # its own service


def lambda_for_suspects() -> "LambdaClient":
    """For functions that handle a suspect: each may use up its time."""
    return kept_client("lambda", os.environ.get("AWS_REGION"), OF_SUSPECTS)  # type: ignore[return-value] # its own service


@lru_cache(maxsize=8)  # sqs-send makes one for each region it is asked for
def kept_client(service: Service, region: str | None, config: Config) -> object:
    """Made once in each execution environment."""
    made = bounded(make_client(service, region_name=region, config=config.merge(unchecked(service))))
    return sent_once(made, *SENDS) if service == "sqs" else made


def error_code(error: Exception) -> str:
    """AWS's code of an error, empty if it never reached AWS."""
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else ""


wall_clock: Final = time.time  # it goes on while Lambda has frozen the function


def sent_once(client: Any, *operations: str) -> Any:
    """The same client, whose `operations` send something."""
    service = client.meta.service_model.service_id.hyphenize()
    fresh = _FreshConnections(client=client)
    client.meta.events.register(f"request-created.{service}", fresh.before_request)
    for operation in operations:
        client.meta.events.register_first(f"needs-retry.{service}.{operation}", _stop_if_it_may_have_arrived)
    return client


def _stop_if_it_may_have_arrived(
    response: tuple[Any, Mapping[str, Any]] | None, caught_exception: Exception | None, **_: object
) -> bool | None:
    """False: no further attempt. None: botocore decides, as for any other request.

    An answer with 4xx is a refusal. An answer with 5xx tells nothing: the message may have been stored before.
    """
    if response is None:
        return None if isinstance(caught_exception, NO_CONNECTION) else False
    http, parsed = response
    return None if http.status_code < 500 or parsed.get("Error", {}).get("Code") in THROTTLED else False


@define(kw_only=True)
class _FreshConnections:
    """Lets go of the connections after a pause.

    A request on a connection that AWS has closed meanwhile fails in a way that could as well be a lost answer. So a
    send could not be repeated, and its schedule would be late by a visibility timeout.
    """

    client: Any
    _used: float = 0
    _lock: Lock = field(factory=Lock)

    def before_request(self, **_: object) -> None:
        """In the thread that makes the request."""
        with self._lock:
            unused, self._used = wall_clock() - self._used, wall_clock()
            if unused > IDLE:
                self.client.close()  # its connections; the next request opens one
