"""How long a function waits for AWS."""

from typing import Any

import pytest

from delayer.engines.aws.clients import client, fail_fast_dynamodb


@pytest.fixture(autouse=True)
def _region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")


def test_a_call_that_hangs_leaves_time_for_another() -> None:
    """Three tries in all, the first included: botocore's `max_attempts` would be the retries alone."""
    config: Any = client("dynamodb").meta.config
    assert (config.connect_timeout, config.read_timeout) == (1, 2)
    assert config.retries["total_max_attempts"] == 3


def test_whoever_can_do_without_does_not_wait() -> None:
    """Two tries of less than a second each: an answer without a history is better than none."""
    config: Any = fail_fast_dynamodb().meta.config
    assert config.connect_timeout + config.read_timeout < 1
    assert config.retries["total_max_attempts"] == 2
