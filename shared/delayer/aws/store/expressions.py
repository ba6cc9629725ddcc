"""Conditions, changes and queries in the words of DynamoDB's expressions."""

import re
from collections.abc import Iterable
from typing import Any, Final

from delayer.aws.store.attributes import attribute_of, to_attributes
from delayer.store.conditions import All, Condition, Has, Is, Some
from delayer.store.items import Value
from delayer.store.queries import Query, Range
from delayer.store.writes import Change

PLAIN: Final = re.compile("[A-Za-z0-9_]+").fullmatch  # a name that can be read behind its `#`


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
        """It holds. DynamoDB refuses redundant parentheses."""
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

    def range(self, sort: str, within: Range) -> str:
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
