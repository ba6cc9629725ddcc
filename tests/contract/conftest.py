"""Each port twice: as the fake, and as the AWS adapter on moto. The same tests hold both, so the fake cannot drift."""

import os
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

import boto3
import pytest
from moto import mock_aws

REGION = "eu-west-1"
_names = (f"table-{number}" for number in count())


@pytest.fixture(scope="session", autouse=True)
def _moto() -> Iterator[None]:
    """No account, no endpoint, no network: moto answers."""
    saved = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("AWS_")}
    with mock_aws():
        yield
    os.environ.update(saved)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


@pytest.fixture(scope="session")
def dynamodb(_moto: None) -> Any:
    return boto3.client("dynamodb", region_name=REGION)


@pytest.fixture(scope="session")
def sqs(_moto: None) -> Any:
    return boto3.client("sqs", region_name=REGION)


@pytest.fixture(scope="session")
def s3(_moto: None) -> Any:
    return boto3.client("s3", region_name=REGION)


def create_table(dynamodb: Any, *keys: str) -> str:
    """A table with the keys that template.yaml gives it."""
    name = next(_names)
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)],
    )
    return name
