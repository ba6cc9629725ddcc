"""boto3 clients of the embedded AWS that ignore everything this machine knows about real accounts."""

import os
from functools import cached_property
from typing import Any

import boto3
import botocore.session
from botocore.config import Config

REGION = "us-east-1"
# A profile or a proxy of the user's shell must neither break a local run nor lead it to a real account.
UNAWARE: dict[str, Any] = {
    "profile": (None, [], None, None),
    "config_file": (None, [], os.devnull, None),
    "credentials_file": (None, [], os.devnull, None),
}


class AwsClients:
    """Clients of one endpoint, each made once."""

    def __init__(self, endpoint_url: str) -> None:
        self.endpoint_url = endpoint_url
        self.clients: dict[str, Any] = {}

    @cached_property
    def session(self) -> Any:
        """A session with the credentials that the embedded AWS takes."""
        return boto3.Session(
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - the embedded AWS checks none
            region_name=REGION,
            botocore_session=botocore.session.Session(session_vars=UNAWARE),
        )

    def client(self, service: str) -> Any:
        """The client of one service, by boto3's name."""
        if service not in self.clients:
            config = Config(proxies={}, retries={"mode": "standard"}, max_pool_connections=50, read_timeout=120)
            self.clients[service] = self.session.client(service, endpoint_url=self.endpoint_url, config=config)
        return self.clients[service]
