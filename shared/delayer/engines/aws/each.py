"""Conditional puts as PartiQL statements, of which BatchExecuteStatement takes 25, each with its own answer (ADR 0116).

An UPDATE leaves standing whatever attribute it does not name. So it names all that an item of the table may have, and
its result is the one of a put. One put alone is a PutItem: it is cheaper, and is answered with the item in the way.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from attrs import frozen
from botocore.exceptions import ClientError

from delayer.engines.aws.clients import AWS_ERRORS, error_code, log
from delayer.engines.aws.expressions import attribute_of, from_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import All, Condition, Is, Item, Put, Value, lacks
from delayer.engines.store.store import Answer, Store, WriteRefused

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import BatchStatementRequestTypeDef, BatchStatementResponseTypeDef

Outcome = TypeVar("Outcome")

PAUSES: Final = (0.01, 0.02, 0.04, 0.08, 0.16)  # seconds, each more or less by half
CONDITION_FAILED: Final = "ConditionalCheckFailedException"
AT_MOST: Final = 25  # statements in one request
IN_TIME: Final = 0.3  # seconds after the first request, in which another one is begun; an executor counts with it

# What went wrong with one statement, by AWS's names: all of these may be over in a moment.
TRANSIENT: Final = frozenset(
    {
        "InternalServerError",
        "ProvisionedThroughputExceeded",
        "RequestLimitExceeded",
        "ThrottlingError",
        "TransactionConflict",
    }
)
IS_THERE: Final = "DuplicateItem"  # of an INSERT; the item that is there is never returned with it
NOT_AS_IT_WAS: Final = "ConditionalCheckFailed"  # of an UPDATE; without an item, if there is none
# A request as a whole: for what one statement says, or as long as a new policy is on its way.
NOT_TAKEN: Final = frozenset({"ValidationException", "AccessDeniedException"})

Puts: TypeAlias = dict[int, Put]  # by their place in the list


@frozen(kw_only=True)
class Each:
    """`write_each` of the store."""

    dynamodb: "DynamoDBClient"
    store: Store

    def write(self, puts: Sequence[Put]) -> list[Answer]:
        """In their order."""
        starts = range(0, len(puts), AT_MOST)
        return [answer for start in starts for answer in self._together(puts[start : start + AT_MOST])]

    def _together(self, puts: Sequence[Put]) -> list[Answer]:
        if len(puts) == 1:
            return [self._alone(puts[0])]
        ends = time.monotonic() + IN_TIME
        answers: dict[int, Answer] = {}
        left, alone = self._ask(dict(enumerate(puts)), answers)
        for pause in PAUSES:
            if not left:
                break
            time.sleep(pause * random.uniform(0.5, 1.5))
            if time.monotonic() > ends:
                break
            left, others = self._ask(left, answers)
            alone |= others
        for number, put in alone.items():
            if time.monotonic() <= ends:
                answers[number] = self._alone(put)
        return [answers[number] for number in range(len(puts))]

    def _alone(self, put: Put) -> Answer:
        try:
            self.store.write(put)
        except (WriteRefused, Unavailable) as answer:
            return answer
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, its neighbours have their answers
            return Unavailable(f"write {put.table}: {error!r}")
        return None

    def _ask(self, left: Puts, answers: dict[int, Answer]) -> tuple[Puts, Puts]:
        """One request. Adds all answers. The puts that may succeed in a moment, and those that DynamoDB takes as
        puts only, or not with these neighbours: a defect of one must not take the others along.
        """
        try:
            statements = [statement(put) for put in left.values()]
            said = self.dynamodb.batch_execute_statement(Statements=statements)["Responses"]
        except AWS_ERRORS as error:
            answers.update(dict.fromkeys(left, Unavailable(f"write items: {error}")))
            return {}, left if error_code(error) in NOT_TAKEN else {}
        except Exception as error:  # noqa: BLE001 - as above
            answers.update(dict.fromkeys(left, Unavailable(f"write items: {error!r}")))
            return {}, left
        return self._sort(left, said, answers)

    def _sort(
        self, left: Puts, said: "Sequence[BatchStatementResponseTypeDef]", answers: dict[int, Answer]
    ) -> tuple[Puts, Puts]:
        """HTTP 200 says nothing about a statement: each has its own answer, in their order."""
        again: Puts = {}
        there: Puts = {}
        alone: Puts = {}
        for (number, put), answer in zip(left.items(), said, strict=True):
            error = answer.get("Error", {})
            code = error.get("Code", "")
            if not error:
                answers[number] = None
            elif code == IS_THERE:
                there[number] = put
            elif code == NOT_AS_IT_WAS:
                answers[number] = WriteRefused([from_attributes(error.get("Item") or {})])
            else:
                answers[number] = Unavailable(f"write {put.table}: {code}: {error.get('Message', '')}")
                (again if code in TRANSIENT else alone)[number] = put
                if code not in TRANSIENT:
                    log.warning("a statement was not taken, and is put: %s: %s", code, error.get("Message", ""))
        return again, alone | (self._compare(there, answers) if there else {})

    def _compare(self, there: Puts, answers: dict[int, Answer]) -> Puts:
        """With the items that an INSERT has met, read strongly consistent after it. The puts whose item is gone."""
        first = next(iter(there.values()))
        try:
            items = self.store.get_many(first.table, [put.key for put in there.values()])
        except Unavailable as error:
            answers.update(dict.fromkeys(there, error))
            return {}
        found = {tuple(item[name] for name in first.key): item for item in items}
        gone: Puts = {}
        for number, put in there.items():
            item = found.get((*put.key.values(),))
            answers[number] = WriteRefused([item or {}])
            if item is None:
                gone[number] = put
        return gone


def statement(put: Put) -> "BatchStatementRequestTypeDef":
    """An INSERT, if its condition is that nothing is there; or an UPDATE of what there is."""
    if put.when == lacks(next(iter(put.key))):
        return _insert(put)
    return _update(put, dict(_wanted(put.when)))


def _insert(put: Put) -> "BatchStatementRequestTypeDef":
    item = put.item
    names = ", ".join(f"'{name}': ?" for name in item)
    return _statement(f'INSERT INTO "{put.table}" VALUE {{{names}}}', [*item.values()])


def _update(put: Put, wanted: Mapping[str, Value]) -> "BatchStatementRequestTypeDef":
    given = {name: value for name, value in put.values.items() if name not in put.key}
    sets = " ".join(f'SET "{name}"=?' for name in given)
    gone = " ".join(f'REMOVE "{name}"' for name in put.names if name not in given and name not in put.key)
    where = " AND ".join(f'"{name}"=?' for name in (*put.key, *wanted))
    text = f'UPDATE "{put.table}" {sets} {gone} WHERE {where}'
    return _statement(text, [*given.values(), *put.key.values(), *wanted.values()])


def _wanted(condition: Condition | None) -> Iterator[tuple[str, Value]]:
    match condition:
        case Is(name, value, "="):
            yield name, value
        case All(conditions):
            for one in conditions:
                yield from _wanted(one)
        case _:
            raise TypeError(f"`write_each` takes no such condition: {condition}")


def _statement(text: str, parameters: list[Any]) -> "BatchStatementRequestTypeDef":
    given = [attribute_of(one) for one in parameters]
    return {"Statement": text, "Parameters": given, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


def once_free(request: Callable[[], Outcome]) -> Outcome:
    """Makes the request, again after a pause as long as a transaction holds one of its items. Raises as it does.

    DynamoDB refuses such a request at once, and boto3 does not try again. A moment later it succeeds.
    """
    for pause in PAUSES:
        try:
            return request()
        except ClientError as error:
            if not is_conflict(error):
                raise
        time.sleep(pause * random.uniform(0.5, 1.5))
    return request()


def is_conflict(error: ClientError) -> bool:
    """Whether another transaction is all that was in the way: no condition failed."""
    response: Any = error.response  # its stubs do not have the reasons
    if response["Error"]["Code"] == "TransactionConflictException":
        return True
    codes = {reason.get("Code") for reason in response.get("CancellationReasons", [])}
    return "TransactionConflict" in codes and codes <= {"TransactionConflict", "None", None}


def in_the_way(error: Exception) -> list[Item | None]:
    """For each write the item whose condition failed, empty if there is none; None for the others."""
    response: Any = getattr(error, "response", None) or {}
    if response.get("Error", {}).get("Code") == CONDITION_FAILED:
        return [from_attributes(response.get("Item") or {})]
    return [
        from_attributes(reason.get("Item") or {}) if reason.get("Code") == "ConditionalCheckFailed" else None
        for reason in response.get("CancellationReasons", [])
    ]
