"""Each port as the fake, and as the AWS adapter on every engine. The same tests hold all, so the fake cannot drift.

Each module names the adapter that it is about, as ADAPTER. The calls of AWS that an adapter makes are recorded: one
that is not declared in aws_calls.py fails its test; one that is declared and was never made fails its module.
"""

import copy
import os
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from moto import mock_aws
from moto.dynamodb import models
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.sqlite.database import LAYOUT
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.store import Store
from tests.contract.engines import DYNAMODBS, FAKE, OTHERS, SQLITES, STATEMENTS, Engines, OnSqlite
from tests.contract.recorder import Calls, record_calls

Aws = Callable[[str], Any]
_names = (f"table-{number}" for number in count())


def executed(backend: Any, statements: list[Any]) -> list[Any]:
    """moto fails at statements with parameters. It executes here the two forms that there are of ours, and no other.

    The emulator says in `make test-all` whether they mean that.
    """
    return [_executed(backend, one["Statement"], one["Parameters"]) for one in statements]


def _executed(backend: Any, text: str, parameters: list[Any]) -> dict[str, Any]:
    if found := re.fullmatch(r'INSERT INTO "([\w-]+)" VALUE {((?:\'\w+\': \?(?:, )?)+)}', text):
        table, names = found[1], re.findall(r"'(\w+)'", found[2])
        new = dict(zip(names, parameters, strict=True))
        if _item(backend, table, new) is not None:
            return {"Error": {"Code": "DuplicateItem", "Message": "there is one"}}
    elif found := re.fullmatch(
        r'UPDATE "([\w-]+)" ((?:SET "\w+"=\? ?)+) ((?:REMOVE "\w+" ?)*) WHERE ((?:"\w+"=\?(?: AND )?)+)', text
    ):
        table, sets, gone, where = found[1], *(re.findall(r'"(\w+)"', part) for part in found.groups()[1:])
        values = dict(zip(sets, parameters, strict=False))
        wanted = dict(zip(where, parameters[len(sets) :], strict=True))
        item = _item(backend, table, wanted)
        if item is None or any(item.get(name) != value for name, value in wanted.items()):
            there = {"Item": item} if item else {}
            return {"Error": {"Code": "ConditionalCheckFailed", "Message": "it is another", **there}}
        new = {name: value for name, value in {**item, **values}.items() if name not in gone}
    else:
        return {"Error": {"Code": "ValidationError", "Message": f"none of ours: {text}"}}
    backend.put_item(table, new)
    return {}


def _item(backend: Any, table: str, values: dict[str, Any]) -> dict[str, Any] | None:
    key = {name: values[name] for name in backend.get_table(table).table_key_attrs}
    found = backend.get_item(table, key)
    return found.to_json()["Attributes"] if found else None


def backed_up_once(transact: Callable[[Any, list[Any]], None]) -> Callable[[Any, list[Any]], None]:
    """moto copies the whole table for each write of a transaction, before the first one. A copy for each table does."""

    def transacted(self: Any, transact_items: list[Any]) -> None:
        copies: dict[int, Any] = {}

        def deepcopy(value: Any) -> Any:
            if not isinstance(value, Table):
                return copy.deepcopy(value)
            if id(value) not in copies:
                copies[id(value)] = copy.deepcopy(value)
            return copies[id(value)]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(models, "copy", SimpleNamespace(deepcopy=deepcopy))
            transact(self, transact_items)

    return transacted


@pytest.fixture(scope="module", autouse=True)
def _moto() -> Iterator[None]:
    """No account, no endpoint, no network: moto answers.

    It ends with the module, and leaves nothing behind: the next module in this process may be one that asks a stack.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setattr(DynamoDBBackend, "batch_execute_statement", executed)
        patch.setattr(DynamoDBBackend, "transact_write_items", backed_up_once(DynamoDBBackend.transact_write_items))
        with mock_aws():
            yield


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


@pytest.fixture(scope="module", autouse=True)
def aws_calls(request: pytest.FixtureRequest) -> Iterator[Calls]:
    """In the end, all that is declared for the adapter of the module was recorded, by all tests of the module.

    The tests of every day are enough for that: an adapter asks moto for the same as the other engines. Nothing can be
    said about a selection of tests that somebody asked for, nor about a run that was stopped. If tests are left out for
    any other reason, that is an error: else the comparison would never be made.
    """
    with pytest.MonkeyPatch.context() as patch:
        calls = record_calls(patch)
        yield calls
    compare(request, calls)


def compare(request: pytest.FixtureRequest, calls: Calls) -> None:
    """When the last test of a module has run."""
    adapter = getattr(request.module, "ADAPTER", None)
    if adapter and not _is_selection(request.config) and not _was_stopped(request.session):
        left_out = _left_out(request)
        assert left_out == [], f"did not run in this process (use --dist loadscope): {left_out}"
        missing = calls.missing(adapter)
        assert missing == [], f"declared in aws_calls.py, and never recorded: {missing}"


SELECTING = ("keyword", "deselect", "lf", "stepwise")  # the options of pytest that leave tests out
EVERY_DAY = "not thorough"  # what `make test` selects by
FOUND = pytest.StashKey[set[str]]()  # ids of the tests that were collected, before any was left out
RAN = pytest.StashKey[set[str]]()  # ids of the tests that ran in this process


def _is_selection(config: pytest.Config) -> bool:
    by_id = any("::" in argument for argument in config.args)
    by_mark = config.getoption("markexpr", "") not in ("", EVERY_DAY)
    return by_id or by_mark or any(config.getoption(name, None) for name in SELECTING)


def _was_stopped(session: pytest.Session) -> bool:
    """By -x, or from the keyboard."""
    return bool(session.shouldstop or session.shouldfail) or session.exitstatus == pytest.ExitCode.INTERRUPTED


def _left_out(request: pytest.FixtureRequest) -> list[str]:
    """The tests of the module that were found in it and did not run."""
    found: set[str] = request.config.stash[FOUND]
    ran: set[str] = request.config.stash[RAN]
    return sorted(one for one in found - ran if one.startswith(f"{request.node.nodeid}::"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """What is thorough is not missed on other days."""
    if not (item.get_closest_marker("thorough") and item.config.getoption("markexpr", "") == EVERY_DAY):
        _note(item, FOUND)


def pytest_runtest_setup(item: pytest.Item) -> None:
    _note(item, RAN)


def _note(item: pytest.Item, key: pytest.StashKey[set[str]]) -> None:
    item.config.stash.setdefault(key, set()).add(item.nodeid)


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    """Whatever plays AWS."""
    started = Engines()
    yield started
    started.stop()


# The next fixtures belong to a module, so that an engine is started before `_no_waiting` stops the time.


@pytest.fixture(scope="module", params=DYNAMODBS)
def dynamodb(request: pytest.FixtureRequest, engines: Engines) -> Any:
    """The client of each engine in turn."""
    return engines.client(request.param, "dynamodb")


@pytest.fixture(scope="module", params=STATEMENTS)
def partiql(request: pytest.FixtureRequest, engines: Engines) -> Any:
    """The client of each engine that takes our statements as AWS does."""
    return engines.client(request.param, "dynamodb")


@pytest.fixture(scope="module", params=[*SQLITES, *DYNAMODBS])
def store(request: pytest.FixtureRequest, engines: Engines) -> Store:
    """Each engine of the store: SQLite in memory and in a file, which come first, and DynamoDB on what plays it."""
    return store_on(engines, request.param)


@pytest.fixture(scope="module", params=[*SQLITES, *STATEMENTS])
def store_of_statements(request: pytest.FixtureRequest, engines: Engines) -> Store:
    """The same, without what does not take our statements as AWS does."""
    return store_on(engines, request.param)


def store_on(engines: Engines, engine: str) -> Store:
    """The store on one engine."""
    if engine in SQLITES:
        return SqliteStore(database=engines.on_sqlite(engine).database(LAYOUT))
    return DynamoStore(engines.client(engine, "dynamodb"))


@pytest.fixture(scope="module", params=OTHERS)
def aws(request: pytest.FixtureRequest, engines: Engines) -> Aws:
    """Makes the client of a service other than DynamoDB."""
    return partial(engines.client, request.param)


@pytest.fixture(scope="module", params=[FAKE, *OTHERS])
def aws_or_fake(request: pytest.FixtureRequest, engines: Engines) -> Aws | None:
    """The same; None for the fake."""
    return None if request.param == FAKE else partial(engines.client, request.param)


@pytest.fixture(scope="module", params=[FAKE, *SQLITES, *OTHERS])
def engine(request: pytest.FixtureRequest, engines: Engines) -> Aws | OnSqlite | None:
    """The same with SQLite, for the ports that have an engine on it. None for the fake."""
    if request.param in SQLITES:
        return engines.on_sqlite(request.param)
    return None if request.param == FAKE else partial(engines.client, request.param)


@pytest.fixture(scope="module")
def sqs(aws: Aws) -> Any:
    return aws("sqs")


@pytest.fixture(scope="module")
def s3(aws: Aws) -> Any:
    return aws("s3")


def create_table(place: Any, *keys: str) -> str:
    """A table with the keys that template.yaml gives it, in a store or with a client. SQLite needs to know none."""
    name = next(_names)
    if isinstance(place, SqliteStore):
        return name
    dynamodb: Any = place.dynamodb if isinstance(place, DynamoStore) else place
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)],
    )
    return name
