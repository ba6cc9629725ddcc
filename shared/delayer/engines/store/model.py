"""The requests to a store, as data: items, conditions, the four writes, queries, and the changes that it tells."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from delayer.schedule.table_change import ChangeKind

# str, int, bool, None, bytes, lists, dicts and frozensets of these; a Decimal for a number that is not whole.
Value: TypeAlias = Any
Item: TypeAlias = dict[str, Value]
StoredItem: TypeAlias = Mapping[str, Value]
Key: TypeAlias = Mapping[str, str]  # the partition first, then the sort key if there is one
Number: TypeAlias = int | Decimal

ONLY = "-"  # the entry of a list that has one
_COMPARED: Final = {
    "=": lambda one, other: one == other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
NOTHING: Final[Mapping[str, Value]] = {}


def entry_key(entries: str, entry: str = ONLY) -> dict[str, str]:
    """The key of an entry in one of the tables that hold lists."""
    return {"list": entries, "entry": entry}


def row_key(name: str) -> dict[str, str]:
    """The key of a control row."""
    return {"name": name}


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


class Put(NamedTuple):
    """An item in the place of whatever is there."""

    table: str
    key: Key
    values: StoredItem = NOTHING
    when: Condition | None = None
    names: tuple[str, ...] = ()  # all attributes that rows of this kind may have: `write_each` asks for them

    @property
    def item(self) -> Item:
        """All of it, with its key."""
        return {**self.key, **self.values, **self.key}  # first in it, and never another one


class Delete(NamedTuple):
    """No item, whatever is there."""

    table: str
    key: Key
    when: Condition | None = None


class Check(NamedTuple):
    """Nothing is written: a condition of a transaction."""

    table: str
    key: Key
    when: Condition


class Change(NamedTuple):
    """Some attributes, also of an item that is not there yet. What is not named stays as it is."""

    table: str
    key: Key
    put: StoredItem = NOTHING
    start: StoredItem = NOTHING  # only where the attribute is missing
    add: StoredItem = NOTHING  # to a number, which is 0 if missing; or the members of a frozenset
    take: StoredItem = NOTHING  # the members of a frozenset
    remove: tuple[str, ...] = ()
    when: Condition | None = None
    is_answered: bool = False  # `write` returns the new values of what was added to


Write: TypeAlias = Put | Delete | Check | Change


def after(write: Write, item: StoredItem | None) -> Item | None:
    """The item after a write whose condition holds; None if there is none. `item` is the one before, and stays."""
    match write:
        case Put():
            return write.item
        case Delete():
            return None
        case Check():
            return dict(item) if item is not None else None
        case Change():
            return _changed(write, item)


def _changed(change: Change, item: StoredItem | None) -> Item:
    """As DynamoDB does: an empty set is no attribute."""
    new: Item = dict(item) if item is not None else dict(change.key)
    new.update((name, value) for name, value in change.start.items() if name not in new)
    new.update(change.put)
    for name, value in change.add.items():
        new[name] = new.get(name, frozenset()) | value if isinstance(value, frozenset) else new.get(name, 0) + value
    for name, value in change.take.items():
        new[name] = new.get(name, frozenset()) - value
    for name in [*change.remove, *(name for name in change.take if not new[name])]:
        new.pop(name, None)
    return new


def answered(change: Change, item: StoredItem) -> Item:
    """Returns the part of the item that `write` asks for after a change."""
    return {name: item[name] for name in change.add if name in item}


class KeyRange(NamedTuple):
    """Of the sort key. `between` has both of its bounds in it."""

    operator: Literal["=", "<", ">=", "between", "begins"]
    value: str
    last: str = ""  # of `between`

    def has(self, sort: str) -> bool:
        """Whether a sort key lies within it."""
        match self.operator:
            case "=":
                return sort == self.value
            case "<":
                return sort < self.value
            case ">=":
                return sort >= self.value
            case "between":
                return self.value <= sort <= self.last
        return sort.startswith(self.value)


class Query(NamedTuple):
    """The items of a partition in the order of their sort keys, by the bytes of UTF-8."""

    table: str
    partition: Key  # its one attribute
    sort: str = "entry"  # the attribute of the sort key
    within: KeyRange | None = None
    after: str = ""  # `more` of the page before; it must lie within the range
    at_most: int = 0  # items of a page; 0: as many as the engine gives
    is_backward: bool = False
    latest: bool = True  # strongly consistent
    only: tuple[str, ...] = ()  # attributes; none: all of them
    when: Condition | None = None  # only those that satisfy it. A page is counted before

    @property
    def of_whole_items(self) -> "Query":
        """The same, with all attributes of each item."""
        return self._replace(only=())


class Page(NamedTuple):
    """Perhaps fewer items than were asked for, even none, while there are more."""

    items: tuple[Item, ...]
    more: str = ""  # the sort key behind which the next page begins; a last page may have it, too


def kept(query: Query, items: list[Item]) -> tuple[Item, ...]:
    """As a page shows them: the attributes that were asked for."""
    if not query.only:
        return tuple(items)
    return tuple({name: item[name] for name in query.only if name in item} for item in items)


class TextChange(NamedTuple):
    """As ItemChange, of items that nobody has read yet: as their store has encoded them."""

    table: str
    old: bytes | None
    new: bytes | None
    is_expired: bool = False

    @property
    def size(self) -> int:
        """In bytes, before and after."""
        return len(self.old or b"") + len(self.new or b"")


class ItemChange(NamedTuple):
    """One item of a table was written, or deleted, or has expired."""

    table: str
    old: StoredItem | None
    new: StoredItem | None
    is_expired: bool = False


def kind_of(change: ItemChange) -> ChangeKind:
    """As DynamoDB names it."""
    if change.new is None:
        return ChangeKind.REMOVE
    return ChangeKind.INSERT if change.old is None else ChangeKind.MODIFY
