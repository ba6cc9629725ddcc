"""boto3 clients of the emulator, which ignore the user's own AWS settings."""

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import boto3
import botocore.session
from botocore.config import Config

from local.key_pair import REGION, KeyPair

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

# A profile or a proxy of the user's shell must neither break a local run nor send its requests to a real account.
WITHOUT_USER_SETTINGS: dict[str, Any] = {
    "profile": (None, [], None, None),
    "config_file": (None, [], os.devnull, None),
    "credentials_file": (None, [], os.devnull, None),
}


class AwsClients:
    """Clients of one endpoint, which sign with this pair. Each is made once."""

    def __init__(self, endpoint_url: str, pair: KeyPair) -> None:
        self.endpoint_url = endpoint_url
        self.pair = pair
        self.clients: dict[str, object] = {}

    @cached_property
    def session(self) -> boto3.Session:
        """A session with the pair of this run."""
        return boto3.Session(
            aws_access_key_id=self.pair.access_key_id,
            aws_secret_access_key=self.pair.secret_access_key,
            region_name=REGION,
            botocore_session=botocore.session.Session(session_vars=WITHOUT_USER_SETTINGS),
        )

    @overload
    def client(self, service: Literal["cloudformation"]) -> "CloudFormationClient": ...
    @overload
    def client(self, service: Literal["dynamodb"]) -> "DynamoDBClient": ...
    @overload
    def client(self, service: Literal["lambda"]) -> "LambdaClient": ...
    @overload
    def client(self, service: Literal["s3"]) -> "S3Client": ...
    @overload
    def client(self, service: Literal["scheduler"]) -> "EventBridgeSchedulerClient": ...
    @overload
    def client(self, service: Literal["sns"]) -> "SNSClient": ...
    @overload
    def client(self, service: Literal["sqs"]) -> "SQSClient": ...
    @overload
    def client(self, service: str) -> Any: ...
    def client(self, service: str) -> object:
        """The client of one service, by boto3's name."""
        if service not in self.clients:
            config = Config(proxies={}, retries={"mode": "standard"}, max_pool_connections=50, read_timeout=120)
            # The overloads above know which class it is; boto3's own know it only for a literal.
            make_client = cast(Any, self.session.client)
            self.clients[service] = make_client(service, endpoint_url=self.endpoint_url, config=config)
        return self.clients[service]
