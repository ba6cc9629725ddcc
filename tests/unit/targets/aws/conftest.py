"""Each test begins without what an earlier one has found or assumed."""

from collections.abc import Iterator

import boto3
import pytest

from delayer.engines.aws import target_clients
from delayer.engines.aws.start import shared_session
from delayer.targets import known


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # one that other tests have made has their credentials
    shared_session.cache_clear()
    known.KNOWN.forget()
    target_clients.ROLES.forget()
    target_clients.kept_target_client.cache_clear()
    yield
    target_clients.kept_target_client.cache_clear()
