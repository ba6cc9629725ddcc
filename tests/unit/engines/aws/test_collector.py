"""The collector of garbage rests while a function starts, and only then."""

import gc
from collections.abc import Iterator

import pytest

from delayer.engines.aws import start as collector

IN_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_it_rests_until_the_function_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(IN_LAMBDA, "one")
    before = gc.get_threshold()
    collector.rest()
    assert gc.get_threshold()[0] > 100 * before[0]
    assert gc.isenabled(), "a process that never becomes ready still collects"
    collector.work()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() > 0


def test_outside_lambda_it_works_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(IN_LAMBDA, raising=False)
    before = gc.get_threshold()
    collector.rest()
    collector.work()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
