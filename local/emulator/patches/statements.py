"""PartiQL: each statement is authorized by what it does, a batch reads or writes, and the stream hears of changes."""

import functools
import json
import re
from typing import Any

# What AWS calls the permission of each verb. BatchExecuteStatement itself is no action of IAM.
ACTIONS = {"SELECT": "PartiQLSelect", "INSERT": "PartiQLInsert", "UPDATE": "PartiQLUpdate", "DELETE": "PartiQLDelete"}
# As far as the table, and nothing in between that could hide another one.
STATEMENT = re.compile(
    r'\s*(?:(INSERT)\s+INTO|(UPDATE)|(DELETE)\s+FROM|(SELECT)\s[\w\s,.*"]+?\sFROM)\s+"([^"]+)"', re.IGNORECASE
)
BATCH = "dynamodb:BatchExecuteStatement"
HTTP_OK = 200


def authorize_statements(iam_actions: Any) -> None:
    """ministack asks for `dynamodb:BatchExecuteStatement` on `*`. On AWS each statement needs its own permission."""
    checks = iam_actions.dynamodb_transaction_checks

    @functools.wraps(checks)
    def checked(iam_action: str, body: bytes, region: str, account_id: str) -> list[tuple[str, str]]:
        if iam_action != BATCH:
            found: list[tuple[str, str]] = checks(iam_action, body, region, account_id)
            return found
        asked = [verb_and_table(text) for text in _statements(json.loads(body or b"{}"))]
        return [
            (f"dynamodb:{ACTIONS[one[0]]}", f"arn:aws:dynamodb:{region}:{account_id}:table/{one[1]}")
            if one
            else (BATCH, "*")  # which no role has
            for one in asked
        ]

    iam_actions.dynamodb_transaction_checks = checked


def refuse_mixed_batches(dynamodb: Any) -> None:
    """ministack accepts reads and writes in one batch."""
    execute = dynamodb._batch_execute_statement

    @functools.wraps(execute)
    def executed(data: Any) -> Any:
        asked = [verb_and_table(text) for text in _statements(data)]
        if len({one[0] == "SELECT" for one in asked if one}) > 1:
            sentence = "All statements of a batch must either read or write."
            return dynamodb.error_response_json("ValidationException", sentence, 400)
        return execute(data)

    dynamodb._batch_execute_statement = executed


def note_changes(dynamodb: Any) -> None:
    """ministack writes no stream record of what a statement changes."""
    insert, update = dynamodb._partiql_insert, dynamodb._partiql_update

    @functools.wraps(insert)
    def inserted(table: Any, parsed: Any) -> Any:
        answer = insert(table, parsed)
        if answer[0] == HTTP_OK:
            item = parsed["item"]
            whole = item["M"] if set(item) == {"M"} else item
            dynamodb._emit_stream_event(table["TableName"], "INSERT", None, whole)
        return answer

    @functools.wraps(update)
    def updated(table: Any, parsed: Any, data: Any = None) -> Any:
        partition, place, _, error = dynamodb._partiql_key_target(table, parsed)
        if error:
            return error
        before = table["items"].get(partition, {}).get(place)
        answer = update(table, parsed, data)
        if answer[0] == HTTP_OK:
            dynamodb._emit_stream_event(table["TableName"], "MODIFY", before, table["items"][partition][place])
        return answer

    dynamodb._partiql_insert, dynamodb._partiql_update = inserted, updated


def verb_and_table(statement: str) -> tuple[str, str] | None:
    """Says what a statement does, and to which table; None if it is not plain."""
    if not (found := STATEMENT.match(statement)):
        return None
    *verbs, table = found.groups()
    [verb] = [one for one in verbs if one]
    return verb.upper(), table


def _statements(request: Any) -> list[str]:
    return [str(one.get("Statement", "")) for one in request.get("Statements") or [] if isinstance(one, dict)]
