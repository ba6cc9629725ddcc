"""Each port as the fake, and as the AWS adapter on every engine. The same tests hold all, so the fake cannot drift.

Each module names the adapter that it is about, as ADAPTER. The calls of AWS that an adapter makes are recorded: one
that is not declared in aws_calls.py fails its test; one that is declared and was never made fails its module.
"""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import pytest
from moto import mock_aws
from moto.dynamodb.models import DynamoDBBackend

from tests.contract.engines import DYNAMODBS, EMULATOR, FAKE, OTHERS, Engines
from tests.contract.recorder import Calls, record_calls

Aws = Callable[[str], Any]
_names = (f"table-{number}" for number in count())


def refuse_statements() -> None:
    """moto fails at statements with parameters. It answers here as DynamoDB does to one that it cannot take."""

    def refused(_: Any, statements: list[Any]) -> list[Any]:
        return [{"Error": {"Code": "ValidationError", "Message": "moto reads no parameters"}} for _ in statements]

    setattr(DynamoDBBackend, "batch_execute_statement", refused)  # noqa: B010 - it has another signature


@pytest.fixture(scope="session", autouse=True)
def _moto() -> Iterator[None]:
    """No account, no endpoint, no network: moto answers."""
    refuse_statements()
    saved = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("AWS_")}
    with mock_aws():
        yield
    os.environ.update(saved)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


@pytest.fixture(scope="module", autouse=True)
def aws_calls(request: pytest.FixtureRequest) -> Iterator[Calls]:
    """In the end, all that is declared for the adapter of the module was recorded, by all tests of the module.

    Nothing can be said about a selection of tests that somebody asked for, nor about a run that was stopped. If tests
    are left out for any other reason, that is an error: else the comparison would never be made.
    """
    with pytest.MonkeyPatch.context() as patch:
        calls = record_calls(patch)
        yield calls
    adapter = getattr(request.module, "ADAPTER", None)
    if adapter and not _is_selection(request.config) and not _was_stopped(request.session):
        left_out = _left_out(request)
        assert left_out == [], f"did not run in this process (use --dist loadscope): {left_out}"
        missing = calls.missing(adapter)
        assert missing == [], f"declared in aws_calls.py, and never recorded: {missing}"


SELECTING = ("keyword", "markexpr", "deselect", "lf", "stepwise")  # the options of pytest that leave tests out
FOUND = pytest.StashKey[set[str]]()  # ids of the tests that were collected, before any was left out
RAN = pytest.StashKey[set[str]]()  # ids of the tests that ran in this process


def _is_selection(config: pytest.Config) -> bool:
    by_id = any("::" in argument for argument in config.args)
    return by_id or any(config.getoption(name, None) for name in SELECTING)


def _was_stopped(session: pytest.Session) -> bool:
    """By -x, or from the keyboard."""
    return bool(session.shouldstop or session.shouldfail) or session.exitstatus == pytest.ExitCode.INTERRUPTED


def _left_out(request: pytest.FixtureRequest) -> list[str]:
    """The tests of the module that were found in it and did not run."""
    found: set[str] = request.config.stash[FOUND]
    ran: set[str] = request.config.stash[RAN]
    return sorted(one for one in found - ran if one.startswith(f"{request.node.nodeid}::"))


def pytest_itemcollected(item: pytest.Item) -> None:
    _note(item, FOUND)


def pytest_runtest_setup(item: pytest.Item) -> None:
    _note(item, RAN)


def _note(item: pytest.Item, key: pytest.StashKey[set[str]]) -> None:
    item.config.stash.setdefault(key, set()).add(item.nodeid)


@pytest.fixture(scope="session")
def engines(_moto: None) -> Iterator[Engines]:
    """Whatever plays AWS."""
    started = Engines()
    yield started
    started.stop()


# The next fixtures belong to a module, so that an engine is started before `_no_waiting` stops the time.


@pytest.fixture(scope="module", params=DYNAMODBS)
def dynamodb(request: pytest.FixtureRequest, engines: Engines) -> Any:
    """The client of each engine in turn."""
    return engines.client(request.param, "dynamodb")


@pytest.fixture(scope="module", params=[one for one in DYNAMODBS if one == EMULATOR])
def emulator(request: pytest.FixtureRequest, engines: Engines) -> Any:
    """The engine that takes statements as AWS does."""
    return engines.client(request.param, "dynamodb")


@pytest.fixture(scope="module", params=[FAKE, *DYNAMODBS])
def dynamodb_or_fake(request: pytest.FixtureRequest, engines: Engines) -> Any:
    """The same; None for the fake, which comes first."""
    return None if request.param == FAKE else engines.client(request.param, "dynamodb")


@pytest.fixture(scope="module", params=OTHERS)
def aws(request: pytest.FixtureRequest, engines: Engines) -> Aws:
    """Makes the client of a service other than DynamoDB."""
    return partial(engines.client, request.param)


@pytest.fixture(scope="module", params=[FAKE, *OTHERS])
def aws_or_fake(request: pytest.FixtureRequest, engines: Engines) -> Aws | None:
    """The same; None for the fake."""
    return None if request.param == FAKE else partial(engines.client, request.param)


@pytest.fixture(scope="module")
def sqs(aws: Aws) -> Any:
    return aws("sqs")


@pytest.fixture(scope="module")
def s3(aws: Aws) -> Any:
    return aws("s3")


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
