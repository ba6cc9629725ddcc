"""Conditions on an item, as data: an engine translates them, or asks `holds`."""

from decimal import Decimal
from typing import Final, Literal, NamedTuple, TypeAlias

from delayer.store.items import StoredItem, Value

Operator = Literal["=", "<", "<=", ">", ">="]


class Is(NamedTuple):
    """An attribute compares with a value of its type; one that is missing does not."""

    name: str
    value: Value
    operator: Operator = "="


class Has(NamedTuple):
    """An attribute is there, whatever it is; or is not."""

    name: str
    there: bool = True


class All(NamedTuple):
    """Each of these holds."""

    of: tuple["Condition", ...]


class Some(NamedTuple):
    """At least one of these holds."""

    of: tuple["Condition", ...]


Condition: TypeAlias = Is | Has | All | Some


def lacks(name: str) -> Has:
    """An attribute is not there."""
    return Has(name, there=False)


_COMPARED: Final = {
    "=": lambda one, other: one == other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def _are_alike(one: Value, other: Value) -> bool:
    """Whether they are of one of DynamoDB's types: all numbers are, and a member of an enumeration is a text."""
    if type(one) is type(other):
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in (str, (int, Decimal)))


def holds(condition: Condition | None, item: StoredItem | None) -> bool:
    """Whether an item satisfies a condition; None is an item that is not there, and a condition that always holds."""
    match condition:
        case None:
            return True
        case Is(name, value, operator):
            if not item or name not in item or not _are_alike(item[name], value):
                return False
            found: bool = _COMPARED[operator](item[name], value)
            return found
        case Has(name, there):
            return (name in (item or {})) is there
        case All(conditions):
            return all(holds(one, item) for one in conditions)
        case Some(conditions):
            return any(holds(one, item) for one in conditions)
