"""boto3 clients, made once per execution environment."""

import logging
import os
from functools import lru_cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

AWS_ERRORS = (BotoCoreError, ClientError)

log = logging.getLogger("delayer.aws")  # for what an adapter reports by its result instead of raising

# A call that hangs must not use up the function's time: it is retried while there is some left. Ten
# connections, because that many messages of one batch are handled side by side.
_CONFIG = Config(
    connect_timeout=1,
    read_timeout=2,
    retries={"mode": "standard", "max_attempts": 3},
    max_pool_connections=10,
    tcp_keepalive=True,
)


@lru_cache(maxsize=8)  # sqs-send makes one for each region it is asked for
def client(service: str, region: str | None = None) -> Any:
    """A client for `dynamodb`, `sqs` or `s3`; the endpoint is boto3's own business (`AWS_ENDPOINT_URL`)."""
    make: Any = boto3.client  # its stubs want the name of the service as a literal
    return make(service, region_name=region or os.environ.get("AWS_REGION"), config=_CONFIG)


@lru_cache(maxsize=2)
def hasty_client(service: str) -> Any:
    """For a view that others can do without: whoever waits for it has better things to do.

    It tries twice: a connection that was kept over an idle phase is often dead, and fails at once.
    """
    make: Any = boto3.client
    patience = Config(connect_timeout=0.3, read_timeout=0.5, retries={"mode": "standard", "max_attempts": 1})
    return make(service, region_name=os.environ.get("AWS_REGION"), config=_CONFIG.merge(patience))


def error_code(error: Exception) -> str:
    """AWS's code of an error, empty if it never reached AWS."""
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
