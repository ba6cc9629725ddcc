"""A batch of statements is checked as AWS checks it."""

import importlib
import json
from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.patches.statements import authorize_statements, note_changes, refuse_mixed_batches

INSERT = "INSERT INTO \"orders\" VALUE {'id': ?}"
UPDATE = 'update "stock" SET "number"=? WHERE "id"=?'
SELECT = 'SELECT * FROM "orders" WHERE "id"=?'
DELETE = 'DELETE FROM "orders" WHERE "id"=?'


def body_of(*statements: str) -> bytes:
    return json.dumps({"Statements": [{"Statement": one} for one in statements]}).encode()


@pytest.fixture
def actions() -> Any:
    ministack = importlib.import_module("ministack.core.iam_actions")
    found = SimpleNamespace(dynamodb_transaction_checks=ministack.dynamodb_transaction_checks)
    authorize_statements(found)
    return found


def test_each_statement_needs_its_own_permission_on_its_own_table(actions: Any) -> None:
    body = body_of(INSERT, UPDATE, SELECT, DELETE)
    found = actions.dynamodb_transaction_checks("dynamodb:BatchExecuteStatement", body, "eu-west-1", "1")
    assert found == [
        ("dynamodb:PartiQLInsert", "arn:aws:dynamodb:eu-west-1:1:table/orders"),
        ("dynamodb:PartiQLUpdate", "arn:aws:dynamodb:eu-west-1:1:table/stock"),
        ("dynamodb:PartiQLSelect", "arn:aws:dynamodb:eu-west-1:1:table/orders"),
        ("dynamodb:PartiQLDelete", "arn:aws:dynamodb:eu-west-1:1:table/orders"),
    ]


@pytest.mark.parametrize(
    "statement",
    ["?", '/**/UPDATE "stock" SET "a"=?', 'UPDATE /*"orders"*/ "stock" SET "a"=?', 'UPDATE stock SET "a"=?'],
)
def test_a_statement_that_is_not_plain_gets_no_permission(actions: Any, statement: str) -> None:
    """It is asked for the one that no role has, also beside others."""
    found = actions.dynamodb_transaction_checks("dynamodb:BatchExecuteStatement", body_of(UPDATE, statement), "r", "1")
    stock = ("dynamodb:PartiQLUpdate", "arn:aws:dynamodb:r:1:table/stock")
    assert found == [stock, ("dynamodb:BatchExecuteStatement", "*")]


def test_transactions_are_left_to_ministack(actions: Any) -> None:
    body = json.dumps({"TransactItems": [{"Put": {"TableName": "orders"}}]}).encode()
    found = actions.dynamodb_transaction_checks("dynamodb:TransactWriteItems", body, "r", "1")
    assert found == [("dynamodb:PutItem", "arn:aws:dynamodb:r:1:table/orders")]


@pytest.mark.parametrize(
    ("statements", "is_refused"),
    [([INSERT, UPDATE, DELETE], False), ([SELECT, SELECT], False), ([INSERT, SELECT], True)],
)
def test_a_batch_reads_or_writes(statements: list[str], is_refused: bool) -> None:
    dynamodb = SimpleNamespace(
        _batch_execute_statement=lambda _: "executed", error_response_json=lambda code, *_: f"refused: {code}"
    )
    refuse_mixed_batches(dynamodb)
    answer = dynamodb._batch_execute_statement(json.loads(body_of(*statements)))
    assert answer == ("refused: ValidationException" if is_refused else "executed")


def test_what_a_statement_changes_reaches_the_stream() -> None:
    """As what a put or an update changes; what it does not change makes no record."""
    items: dict[str, Any] = {"1": {"-": {"id": {"S": "1"}, "n": {"N": "1"}}}}
    table = {"TableName": "orders", "items": items}
    noted: list[Any] = []

    def update(table: Any, parsed: Any, data: Any = None) -> Any:
        if not parsed["holds"]:
            return (400, {}, b"")
        items["1"] = {"-": {"id": {"S": "1"}, "n": {"N": "2"}}}
        return (200, {}, b"")

    replaced: dict[str, Any] = {
        "_partiql_insert": lambda _, parsed: (200 if parsed["item"] else 400, {}, b""),
        "_partiql_update": update,
        "_partiql_key_target": lambda _, parsed: ("1", "-", None, parsed.get("error")),
        "_emit_stream_event": lambda *event: noted.append(event),
    }
    dynamodb = SimpleNamespace(**replaced)
    note_changes(dynamodb)
    dynamodb._partiql_insert(table, {"item": {"M": {"id": {"S": "2"}}}})
    dynamodb._partiql_insert(table, {"item": {}})
    dynamodb._partiql_update(table, {"holds": False})
    assert dynamodb._partiql_update(table, {"holds": True, "error": "no key"}) == "no key"
    dynamodb._partiql_update(table, {"holds": True})
    assert noted == [
        ("orders", "INSERT", None, {"id": {"S": "2"}}),
        ("orders", "MODIFY", {"id": {"S": "1"}, "n": {"N": "1"}}, {"id": {"S": "1"}, "n": {"N": "2"}}),
    ]


def test_ministack_has_the_names_that_are_replaced() -> None:
    dynamodb = importlib.import_module("ministack.services.dynamodb")
    assert callable(dynamodb._batch_execute_statement)
    assert callable(dynamodb.error_response_json)
    names = ("_partiql_insert", "_partiql_update", "_partiql_key_target", "_emit_stream_event")
    assert all(callable(getattr(dynamodb, name)) for name in names)
    assert callable(importlib.import_module("ministack.core.iam_actions").dynamodb_transaction_checks)
