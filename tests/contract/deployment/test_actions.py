"""The registered action types: one row, in which each type is written for itself."""

import json
from collections.abc import Callable
from itertools import count, islice
from typing import Any

import pytest
from attrs import evolve

from delayer.actions.ports import Actions
from delayer.actions.repository import KEY, TRIES, StoredActions
from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration, Registrations, most_bytes
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put
from delayer.engines.store.store import Store
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.samples import GOLDEN

ADAPTER = StoredActions
FIRST = Registration(
    action=ActionType(
        type="slack-post", schema='{"description": "é \\" \\\\ \\u0000"}', fair_by="channel", payload="{}"
    ),
    stack="arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/1a2b",
    token="1",
    resource="Slack",
    function="arn:aws:lambda:eu-west-1:123456789012:function:slack",
)
SECOND = evolve(FIRST, token="2", queue="http://localhost:8081/1/q", function="", resource="")
OTHER = evolve(FIRST, action=ActionType(type="sms-send", schema="{}", internal=True, largest_payload=1_000))


@pytest.fixture
def actions(store: Store) -> StoredActions:
    return StoredActions(store=store, table=create_table(store, "name"))


def adapter(dynamodb: Any) -> StoredActions:
    return StoredActions(store=DynamoStore(dynamodb), table=create_table(dynamodb, "name"))


def texts(actions: StoredActions) -> dict[str, str]:
    """As they are stored."""
    item = actions.store.get(actions.table, KEY)
    assert item is not None
    found: dict[str, str] = item["types"]
    return found


def test_a_new_stack_has_none(actions: Actions) -> None:
    assert actions.actions() == {}


def test_what_is_written_is_read(actions: Actions) -> None:
    assert actions.write("slack-post", (FIRST,), ())
    assert actions.write("sms-send", (OTHER,), ())
    assert actions.write("slack-post", (FIRST, SECOND), (FIRST,))
    assert actions.actions() == {"slack-post": (FIRST, SECOND), "sms-send": (OTHER,)}


@pytest.mark.parametrize("over", [(), (SECOND,), (FIRST, SECOND), (SECOND, FIRST)], ids=len)
def test_of_two_writers_one_is_refused(actions: Actions, over: Any) -> None:
    """The row is what the first one wrote."""
    actions.write("slack-post", (FIRST,), ())
    assert not actions.write("slack-post", (SECOND,), over)
    assert actions.actions() == {"slack-post": (FIRST,)}


def test_what_is_taken_out_is_gone(actions: Actions) -> None:
    actions.write("slack-post", (FIRST,), ())
    actions.write("sms-send", (OTHER,), ())
    assert actions.write("slack-post", (), (FIRST,))
    assert actions.actions() == {"sms-send": (OTHER,)}
    assert not actions.write("slack-post", (SECOND,), (FIRST,))
    assert actions.write("slack-post", (SECOND,), ())


def test_nothing_over_nothing(actions: Actions) -> None:
    assert actions.write("slack-post", (), ())
    assert actions.actions() == {}


def test_it_takes_no_more_bytes_than_reckoned(actions: StoredActions) -> None:
    """So the row never becomes too large for DynamoDB, which counts names and values."""
    strange = evolve(OTHER, action=evolve(OTHER.action, schema="\U0001f600é"))
    every: dict[str, Registrations] = {"slack-post": (FIRST, SECOND), "sms-send": (strange,)}
    every |= {kind: (evolve(FIRST, action=one, queue='"' * 9),) for kind, one in built_in().items()}
    for kind, known in every.items():
        actions.write(kind, known, ())
    row = texts(actions)
    assert row.keys() == every.keys()
    for kind, text in row.items():
        size = len(kind) + len(text.encode())
        assert size <= most_bytes(every[kind]) <= size + 300 * len(every[kind])


def test_a_row_of_the_first_version_is_read(store: Store, actions: StoredActions) -> None:
    store.write(Put(actions.table, KEY, from_attributes(json.loads((GOLDEN / "actions-item.json").read_text()))))
    found = actions.actions()
    assert {kind: [(one.stack, one.token) for one in known] for kind, known in found.items()} == {
        "http-request": [("arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/0a1b", "1")],
        "report-make": [("arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/2c3d", "2")],
    }
    [report] = found["report-make"]
    assert report.function.endswith(":function:report")
    assert report.action == ActionType(type="report-make", schema='{"type":"object"}', fair_by="report", payload="{}")


def meddled(dynamodb: Any, actions: StoredActions, meddle: Callable[[], object]) -> StoredActions:
    """The same, with something that is done before each of its writes."""

    def update_item(**arguments: Any) -> Any:
        meddle()
        return dynamodb.update_item(**arguments)

    return evolve(actions, store=DynamoStore(Wrapped(dynamodb, update_item=update_item)))


@pytest.mark.parametrize("before", ["new", "old"])
def test_one_that_writes_in_between_is_not_overwritten(dynamodb: Any, before: str) -> None:
    """Between the read and the write of this one."""
    actions = adapter(dynamodb)
    if before == "old":
        actions.write("slack-post", (FIRST,), ())
    over = (FIRST,) if before == "old" else ()
    written = []

    def meddle() -> None:
        written.append(actions.write("slack-post", (SECOND,), over))

    assert not meddled(dynamodb, actions, meddle).write("slack-post", (FIRST, SECOND), over)
    assert written == [True]
    assert actions.actions() == {"slack-post": (SECOND,)}


@pytest.mark.parametrize("before", ["new", "old"])
@pytest.mark.parametrize("times", [1, 3])
def test_one_that_writes_another_type_in_between_is_not_in_the_way(dynamodb: Any, before: str, times: int) -> None:
    """All types are in one map, which is written as a whole: so it is read again, and nothing of the other is lost."""
    actions = adapter(dynamodb)
    if before == "old":
        actions.write("slack-post", (FIRST,), ())
    others = [(evolve(OTHER, token=str(number)),) for number in range(times)]
    left = iter(zip(others, [(), *others], strict=False))

    def meddle() -> None:
        for new, over in islice(left, 1):
            assert actions.write("sms-send", new, over)

    over = (FIRST,) if before == "old" else ()
    assert meddled(dynamodb, actions, meddle).write("slack-post", (FIRST, SECOND), over)
    assert actions.actions() == {"slack-post": (FIRST, SECOND), "sms-send": others[-1]}


def test_one_that_is_never_first_is_unavailable(dynamodb: Any) -> None:
    actions = adapter(dynamodb)
    tries = count()

    def meddle() -> None:
        assert actions.write(f"type-{next(tries)}", (OTHER,), ())

    with pytest.raises(Unavailable):
        meddled(dynamodb, actions, meddle).write("slack-post", (FIRST,), ())
    assert actions.actions().keys() == {f"type-{number}" for number in range(TRIES)}


def test_the_row_is_the_one_that_older_code_reads(actions: StoredActions) -> None:
    """A map with a text for each type, also when the last one has gone."""
    actions.write("slack-post", (FIRST,), ())
    actions.write("sms-send", (OTHER,), ())
    assert texts(actions).keys() == {"slack-post", "sms-send"}
    actions.write("slack-post", (), (FIRST,))
    actions.write("sms-send", (), (OTHER,))
    assert actions.store.get(actions.table, KEY) == {**KEY, "types": {}}


def stored(store: Store, actions: StoredActions, text: str) -> None:
    store.write(Put(actions.table, KEY, {"types": {"slack-post": text}}))


@pytest.mark.parametrize(
    "text",
    ["", "<html>", "{}", "[1]", '[{"action": {"v": 2}, "stack": "s", "token": "1"}]', '[{"stack": "s", "token": "1"}]'],
)
def test_what_this_version_cannot_read_is_left_out(store: Store, actions: StoredActions, text: str) -> None:
    """It must not keep the other types from being read, nor its own from being registered again."""
    stored(store, actions, text)
    assert actions.actions() == {}
    actions.write("sms-send", (OTHER,), ())
    assert actions.actions() == {"sms-send": (OTHER,)}
    if text:
        assert actions.write("slack-post", (FIRST,), ())
        assert actions.actions()["slack-post"] == (FIRST,)


def test_what_another_version_wrote_in_another_way_can_be_replaced(store: Store, actions: StoredActions) -> None:
    stored(
        store,
        actions,
        '[{"token": "1", "stack": "s", "later": 1, "action": {"v": 1, "type": "slack-post", "schema": "{}"}}]',
    )
    [first] = actions.actions()["slack-post"]
    assert first == Registration(action=ActionType(type="slack-post", schema="{}"), stack="s", token="1")
    assert actions.write("slack-post", (FIRST,), (first,))
    assert actions.actions() == {"slack-post": (FIRST,)}


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_error_of_aws_is_unavailable(error: Exception) -> None:
    failing = StoredActions(store=DynamoStore(Failing(error)), table="t")
    with pytest.raises(Unavailable):
        failing.actions()
    with pytest.raises(Unavailable):
        failing.write("slack-post", (FIRST,), ())
