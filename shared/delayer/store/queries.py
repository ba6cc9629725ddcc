"""What a query asks for, and the page that it gets."""

from typing import Literal, NamedTuple

from delayer.store.conditions import Condition
from delayer.store.items import Item, Key


class Range(NamedTuple):
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
    within: Range | None = None
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
