"""Rows of attrs classes as items, declared by the fields that are special: all others are stored as they are.

An attribute has the name of its field in camel case. What is empty as it is stored, a text or a number, is left out,
and may be missing when it is read; what is `kept` is stored always, and must be there. A row of another version, or one
that cannot be read for another reason, is Unavailable: it says nothing.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, Final, Generic, NamedTuple, TypeVar

from attrs import fields

from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Item, StoredItem, Value
from delayer.schedule.instants import SECOND, UnknownVersion

Row = TypeVar("Row")

MUST_BE_THERE: Final[Any] = object()
NOT_READ: Final = (KeyError, ValueError, TypeError, AttributeError, RecursionError)


class Form(NamedTuple):
    """How a field is stored."""

    store: Callable[[Any], Value]
    load: Callable[[Any], Any]
    empty: Value


def as_text(value: Value) -> str:
    """A text, or TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__}, and no text")
    return value


def as_number(value: Value) -> int:
    """A whole number, or TypeError."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{type(value).__name__}, and no whole number")
    return value


def _flag(value: Value) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{type(value).__name__}, and no truth value")
    return value


def _texts(value: Value) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{type(value).__name__}, and no list")
    return tuple(map(as_text, value))


TEXT: Final = Form(str, as_text, "")
NUMBER: Final = Form(int, as_number, 0)
FLAG: Final = Form(bool, _flag, empty=False)
TEXTS: Final = Form(list, _texts, [])
SECONDS: Final = Form(
    lambda millis: millis // SECOND, lambda seconds: as_number(seconds) * SECOND, 0
)  # as the TTL has it
_PLAIN: Final[Mapping[Any, Form]] = {str: TEXT, int: NUMBER, bool: FLAG, tuple[str, ...]: TEXTS}


def encoded(encode: Callable[[Any], str], decode: Callable[[str], Any]) -> Form:
    """A field that is stored as a text. An empty text is left out, and decoded."""
    return Form(encode, lambda value: decode(as_text(value)), "")


def always(form: Form) -> Form:
    """A field that is stored also if it is empty, and may be missing all the same when it is read."""
    return Form(form.store, lambda value: form.load(form.empty if value is None else value), None)


class Column(NamedTuple):
    """A field, its attribute, and how it is stored."""

    field: str
    attribute: str
    form: Form
    is_kept: bool  # stored also if it is empty
    default: Any  # what the field has, if its attribute is missing; MUST_BE_THERE if it may not be


class Mapped(Generic[Row]):
    """The mapping of one class of rows."""

    def __init__(
        self,
        row: type[Row],
        what: str,
        *,
        version: int | None = 1,
        kept: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
        names: Mapping[str, str] | None = None,
        **forms: Form,
    ) -> None:
        """`what` it is, with its article, for an error. `without`: fields that the key tells. `names`: attributes that
        are called otherwise than their fields. `forms`: of fields whose type does not tell it.
        """
        self._row, self._what, self._version = row, what, version
        called = names or {}
        stored: Any = [one for one in fields(row) if one.name not in without]  # type: ignore[arg-type] # an attrs class
        self._columns = [
            _column(
                one.name,
                called.get(one.name) or camel(one.name),
                forms.get(one.name) or _form(one.type),
                is_kept=one.name in kept,
            )
            for one in stored
        ]
        self.attributes = (*(() if version is None else ("v",)), *(one.attribute for one in self._columns))

    def item(self, row: Row) -> Item:
        """Its attributes, without a key that is not among its fields."""
        item: Item = {} if self._version is None else {"v": self._version}
        for field, attribute, form, is_kept, _ in self._columns:
            value = form.store(getattr(row, field))
            if is_kept or value != form.empty:
                item[attribute] = value
        return item

    def row(self, item: StoredItem, **known: Any) -> Row:
        """The inverse; `known` are the fields that the key tells. Raises Unavailable."""
        try:
            if self._version is not None:
                check_version(item, self._version)
            for field, attribute, form, _, default in self._columns:
                is_there = attribute in item or default is MUST_BE_THERE
                known[field] = form.load(item[attribute]) if is_there else default
            return self._row(**known)
        except NOT_READ as error:
            raise Unavailable(f"{self._what} that cannot be read: {error!r}") from error


def _column(field: str, attribute: str, form: Form, *, is_kept: bool) -> Column:
    """A value that cannot be empty, such as a state, must be there as well."""
    default = MUST_BE_THERE
    with suppress(*NOT_READ):
        default = default if is_kept else form.load(form.empty)
    return Column(field, attribute, form, is_kept, default)


def check_version(item: StoredItem, version: int) -> None:
    """Raises UnknownVersion for an item of another version, KeyError for one without."""
    if item["v"] != version or isinstance(item["v"], bool):
        raise UnknownVersion(f"version {item['v']!r}; this code reads version {version}")


def camel(name: str) -> str:
    """The attribute of a field."""
    first, *others = name.split("_")
    return first + "".join(one.title() for one in others)


def _form(kind: Any) -> Form:
    if isinstance(kind, type) and issubclass(kind, str) and issubclass(kind, Enum):
        return Form(str, lambda value: kind(as_text(value)), "")
    form = _PLAIN.get(kind)
    if form is None:
        raise TypeError(f"say how a field of the type {kind} is stored")
    return form
