"""Conditional writes as PartiQL statements, of which BatchExecuteStatement takes 25.

An UPDATE leaves standing whatever attribute it does not name. So it names all that an item of the table may have, and
its result is the one of a put.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from delayer.aws.dynamodb.items.attributes import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import BatchStatementRequestTypeDef

AT_MOST: Final = 25  # statements in one request

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
CONDITION_FAILED: Final = "ConditionalCheckFailed"  # of an UPDATE; without an item, if there is none


def insert(table: str, item: Item) -> "BatchStatementRequestTypeDef":
    """The item, if there is none with its key."""
    names = ", ".join(f"'{name}': ?" for name in item)
    return _statement(f'INSERT INTO "{table}" VALUE {{{names}}}', list(item.values()))


def update(
    table: str, key: str, item: Item, attributes: Collection[str], condition: Mapping[str, Any]
) -> "BatchStatementRequestTypeDef":
    """The item in place of the one with its key, if that has these values. `attributes` are all that it may have."""
    given = {name: value for name, value in item.items() if name != key}
    sets = " ".join(f'SET "{name}"=?' for name in given)
    gone = " ".join(f'REMOVE "{name}"' for name in attributes if name not in item)
    where = " AND ".join(f'"{name}"=?' for name in (key, *condition))
    return _statement(
        f'UPDATE "{table}" {sets} {gone} WHERE {where}', [*given.values(), item[key], *condition.values()]
    )


def _statement(text: str, parameters: list[Any]) -> "BatchStatementRequestTypeDef":
    return {"Statement": text, "Parameters": parameters, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
