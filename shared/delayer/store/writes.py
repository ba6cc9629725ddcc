"""The four writes. Each may have a condition on the item that is there before it."""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from delayer.store.conditions import Condition
from delayer.store.items import Item, Key, StoredItem, Value

NOTHING: Final[Mapping[str, Value]] = {}


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
    """What `write` returns of the item after a change."""
    return {name: item[name] for name in change.add if name in item}
