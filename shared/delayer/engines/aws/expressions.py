"""Items and attributes as DynamoDB takes and gives them; conditions, changes and queries in its expressions."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from delayer.engines.ports import Unavailable
from delayer.engines.store.model import All, Change, Condition, Has, Is, Item, KeyRange, Query, Some, StoredItem, Value

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Attributes: TypeAlias = dict[str, AttributeValueTypeDef]
else:
    Attributes = dict


PLAIN: Final = re.compile("[A-Za-z0-9_]+").fullmatch  # a name that can be read behind its `#`


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


class Expression:
    """The names and values of one request. Each name gets a `#`: the list of reserved words is long, and grows."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    def name(self, name: str) -> str:
        """An attribute."""
        stands = f"#{name}" if PLAIN(name) else f"#n{len(self.names)}"
        self.names[stands] = name
        return stands

    def value(self, value: Value) -> str:
        """A value."""
        stands = f":v{len(self.values)}"
        self.values[stands] = attribute_of(value)
        return stands

    def condition(self, condition: Condition) -> str:
        """Returns the text of a condition. DynamoDB refuses redundant parentheses."""
        match condition:
            case Is(name, value, operator):
                return f"{self.name(name)} {operator} {self.value(value)}"
            case Has(name, there):
                return f"attribute_{'' if there else 'not_'}exists({self.name(name)})"
            case All(conditions):
                return self._joined(" AND ", conditions)
            case Some(conditions):
                return self._joined(" OR ", conditions)

    def _joined(self, word: str, conditions: Iterable[Condition]) -> str:
        return word.join(
            f"({self.condition(one)})" if isinstance(one, All | Some) and len(one.of) > 1 else self.condition(one)
            for one in conditions
        )

    def range(self, sort: str, within: KeyRange) -> str:
        """Of the sort key, by its name."""
        name = self.name(sort)
        match within.operator:
            case "between":
                return f"{name} BETWEEN {self.value(within.value)} AND {self.value(within.last)}"
            case "begins":
                return f"begins_with({name}, {self.value(within.value)})"
        return f"{name} {within.operator} {self.value(within.value)}"

    def change(self, change: Change) -> str:
        """An UpdateExpression."""
        put = [f"{self.name(name)} = {self.value(value)}" for name, value in change.put.items()]
        for name, value in change.start.items():
            attribute = self.name(name)
            put.append(f"{attribute} = if_not_exists({attribute}, {self.value(value)})")
        add, take = (
            [f"{self.name(name)} {self.value(value)}" for name, value in values.items()]
            for values in (change.add, change.take)
        )
        gone = [self.name(name) for name in change.remove]
        parts = {"SET": put, "ADD": add, "DELETE": take, "REMOVE": gone}
        return " ".join(f"{verb} {', '.join(these)}" for verb, these in parts.items() if these)

    def arguments(self, **expressions: str) -> dict[str, Any]:
        """Of the request. An empty set of names or values is refused by DynamoDB."""
        names = {"ExpressionAttributeNames": self.names} if self.names else {}
        values = {"ExpressionAttributeValues": self.values} if self.values else {}
        return {**expressions, **names, **values}


def conditional(condition: Condition | None, change: Change | None = None) -> dict[str, Any]:
    """The arguments of a write: its condition, and what it changes. A refusal shows the item."""
    expression = Expression()
    said = {"UpdateExpression": expression.change(change)} if change else {}
    if condition:
        said["ConditionExpression"] = expression.condition(condition)
        said["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return expression.arguments(**said)


def queried(query: Query) -> dict[str, Any]:
    """The arguments of a Query."""
    expression = Expression()
    [(partition, value)] = query.partition.items()
    said = {"KeyConditionExpression": f"{expression.name(partition)} = {expression.value(value)}"}
    if query.within:
        said["KeyConditionExpression"] += f" AND {expression.range(query.sort, query.within)}"
    if query.when:
        said["FilterExpression"] = expression.condition(query.when)
    if query.only:
        said["ProjectionExpression"] = ", ".join(expression.name(one) for one in query.only)
    return {
        "TableName": query.table,
        "ConsistentRead": query.latest,
        **expression.arguments(**said),
        **({"Limit": query.at_most} if query.at_most else {}),
        **({"ScanIndexForward": False} if query.is_backward else {}),
        **({"ExclusiveStartKey": to_attributes({**query.partition, query.sort: query.after})} if query.after else {}),
    }
