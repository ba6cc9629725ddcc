"""The ledger for those who change and read many rows at a time: one request for up to 25 changes (ADR 0116)."""

import random
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import frozen

from delayer.aws.dynamodb.batches.statements import AT_MOST, CONDITION_FAILED, IS_THERE, TRANSIENT, insert, update
from delayer.aws.dynamodb.items.attributes import Item, StoredItem
from delayer.aws.dynamodb.items.requests import PAUSES
from delayer.aws.dynamodb.items.requests import read_all as read_items
from delayer.aws.dynamodb.ledger import ATTRIBUTES, DynamoLedger, answer_of, from_item, to_item
from delayer.aws.runtime.clients import AWS_ERRORS, error_code, log
from delayer.core.ledger.row import LedgerChange, LedgerRow
from delayer.ports.ledger import WriteResult, Written
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import BatchStatementResponseTypeDef

KEY: Final = "scheduleId"
IN_TIME: Final = 0.3  # seconds after the first request, in which another one is begun; an executor counts with it
Changes: TypeAlias = dict[int, LedgerChange]  # by their place in the list
# A request as a whole: for what one statement says, or as long as a new policy is on its way.
REFUSED: Final = frozenset({"ValidationException", "AccessDeniedException"})


@frozen(kw_only=True)
class DynamoLedgerInBatches(DynamoLedger):
    """Port LedgerInBatches."""

    def read_each(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow | Unavailable]:
        keys: list[Item] = [{KEY: {"S": schedule_id}} for schedule_id in dict.fromkeys(schedule_ids)]
        return {item[KEY]["S"]: _read(item) for item in read_items(self.dynamodb, self.table, keys)}

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        """One change alone is a PutItem: it is cheaper, and is answered with the row that is in the way.

        Nothing is done by the threads of the pool: all of them may wait for what this one writes for them.
        """
        starts = range(0, len(changes), AT_MOST)
        return [result for start in starts for result in self._together(changes[start : start + AT_MOST])]

    def _together(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        if len(changes) == 1:
            return [self._answered(changes[0])]
        ends = time.monotonic() + IN_TIME
        results: dict[int, WriteResult] = {}
        left, alone = self._ask(dict(enumerate(changes)), results)
        for pause in PAUSES:
            if not left:
                break
            time.sleep(pause * random.uniform(0.5, 1.5))
            if time.monotonic() > ends:
                break
            left, others = self._ask(left, results)
            alone |= others
        for number, change in alone.items():
            if time.monotonic() <= ends:
                results[number] = self._answered(change)
        return [results[number] for number in range(len(changes))]

    def _ask(self, left: Changes, results: dict[int, WriteResult]) -> tuple[Changes, Changes]:
        """One request. Adds all results. The changes that may succeed in a moment, and those that DynamoDB takes as
        puts only, or not with these neighbours: a defect of one must not take the others along.
        """
        try:
            statements = [self._statement(change) for change in left.values()]
            answers = self.dynamodb.batch_execute_statement(Statements=statements)["Responses"]
        except AWS_ERRORS as error:
            results.update(dict.fromkeys(left, Unavailable(f"write ledger: {error}")))
            return {}, left if error_code(error) in REFUSED else {}
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one change, its neighbours have their answers
            results.update(dict.fromkeys(left, Unavailable(f"write ledger: {error!r}")))
            return {}, left
        return self._sort(left, answers, results)

    def _statement(self, change: LedgerChange) -> Any:
        item = to_item(change.row)
        if change.over is None:
            return insert(self.table, item)
        return update(self.table, KEY, item, ATTRIBUTES, {"revision": {"N": str(change.over.revision)}})

    def _sort(
        self, left: Changes, answers: "Sequence[BatchStatementResponseTypeDef]", results: dict[int, WriteResult]
    ) -> tuple[Changes, Changes]:
        """HTTP 200 says nothing about a statement: each has its own answer, in their order."""
        again: Changes = {}
        there: Changes = {}
        alone: Changes = {}
        for (number, change), answer in zip(left.items(), answers, strict=True):
            error = answer.get("Error", {})
            code = error.get("Code", "")
            if not error:
                results[number] = Written()
            elif code == IS_THERE:
                there[number] = change
            elif code == CONDITION_FAILED:
                results[number] = answer_of(change.row, error.get("Item"))
            else:
                results[number] = Unavailable(f"write ledger: {code}: {error.get('Message', '')}")
                (again if code in TRANSIENT else alone)[number] = change
                if code not in TRANSIENT:
                    log.warning("a statement was not taken, and is put: %s: %s", code, error.get("Message", ""))
        return again, alone | (self._compare(there, results) if there else {})

    def _compare(self, there: Changes, results: dict[int, WriteResult]) -> Changes:
        """With the rows that an INSERT has met, read strongly consistent after it. The changes whose row is gone."""
        keys: list[Item] = [{KEY: {"S": change.row.schedule_id}} for change in there.values()]
        try:
            found: Mapping[str, StoredItem] = {
                item[KEY]["S"]: item for item in read_items(self.dynamodb, self.table, keys)
            }
        except Unavailable as error:
            results.update(dict.fromkeys(there, error))
            return {}
        for number, change in there.items():
            results[number] = answer_of(change.row, found.get(change.row.schedule_id))
        return {number: change for number, change in there.items() if change.row.schedule_id not in found}


def _read(item: StoredItem) -> LedgerRow | Unavailable:
    try:
        return from_item(item)
    except Unavailable as error:
        return error
