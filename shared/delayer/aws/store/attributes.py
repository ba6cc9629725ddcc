"""Items as DynamoDB's client takes and gives them, and as the store has them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from delayer.ports.unavailable import Unavailable
from delayer.store.items import Item, StoredItem, Value

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Attributes: TypeAlias = dict[str, AttributeValueTypeDef]
else:
    Attributes = dict


def to_attributes(item: StoredItem) -> Attributes:
    """An item for DynamoDB."""
    return {name: attribute_of(value) for name, value in item.items()}


def from_attributes(item: Mapping[str, Any]) -> Item:
    """An item that came from DynamoDB, or in a record of its stream."""
    return {name: value["S"] if "S" in value else plain_value(value) for name, value in item.items()}


def attribute_of(value: Value) -> Any:
    """One attribute for DynamoDB. Most are texts and whole numbers. Raises Unavailable if it cannot be stored."""
    if type(value) is str:
        return {"S": value}
    if type(value) is int:
        return {"N": str(value)}
    return _other_value(value)


def _other_value(value: Value) -> Any:  # noqa: C901 - a line for each type
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int() | Decimal():
            return {"N": str(value)}
        case None:
            return {"NULL": True}
        case Mapping():
            return {"M": to_attributes(value)}
        case list():
            return {"L": [attribute_of(one) for one in value]}
        case bytes():
            return {"B": value}
        case frozenset() if value:
            return _set_of(value)
    raise Unavailable(f"an item that cannot be stored: no attribute is a {type(value).__name__}, or an empty one")


def _set_of(values: frozenset[Any]) -> Any:
    ordered = sorted(values)
    match ordered[0]:
        case str():
            return {"SS": ordered}
        case bytes():
            return {"BS": ordered}
    return {"NS": [str(one) for one in ordered]}


def plain_value(value: Any) -> Value:
    """One attribute that came from DynamoDB."""
    if "N" in value:
        return _number(value["N"])
    [(kind, given)] = value.items()
    match kind:
        case "S" | "BOOL" | "B":
            return given
        case "NULL":
            return None
        case "M":
            return from_attributes(given)
        case "L":
            return [plain_value(one) for one in given]
        case "SS" | "BS":
            return frozenset(given)
        case "NS":
            return frozenset(_number(one) for one in given)
    raise TypeError(f"an attribute of the unknown type {kind}")


def _number(text: str) -> int | Decimal:
    try:
        return int(text)
    except ValueError:
        return Decimal(text)
