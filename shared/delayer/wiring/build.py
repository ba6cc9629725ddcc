"""Puts things together by the names of their fields: a use case, and a part of a bundle when it is asked for first.

`build(Enqueue, ports)` is the whole wiring of a function: each field of the class is the part of the bundle, or the
setting, that has the field's name. What is in no bundle is given: `build(Guard, ports, handle=…)`. In the bundle,

    lines: "StoredLines" = stored("delayer.flow.repository", table="registry_table")

is an object of the class `StoredLines`, filled in the same way; its module is imported only then.
"""

from importlib import import_module
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from attrs import NOTHING, fields, has

from delayer.wiring.settings import SETTINGS

if TYPE_CHECKING:
    from delayer.wiring.bundle import Bundle

Made = TypeVar("Made")


def build(kind: type[Made], ports: "Bundle", **own: Any) -> Made:
    """One of this class. A field that neither `own` nor the bundle has is a use case that is built the same way.

    A field with a default keeps it if nobody has its name. Raises TypeError if nothing is left to make a field of, and
    if `own` has what is no field.
    """
    from delayer.wiring.bundle import PARTS

    filled = dict(own)
    for one in fields(kind):  # type: ignore[arg-type] # whatever is built is a class of attrs
        if one.name in filled or not one.init:
            continue
        if one.name in PARTS or one.name in SETTINGS:
            filled[one.name] = _named(one.name, ports)
        elif one.default is NOTHING and (part := _class_in(one.type)):
            filled[one.name] = build(part, ports)
    return kind(**filled)


def _named(name: str, ports: "Bundle") -> Any:
    """The part or the setting of this name."""
    return getattr(ports.settings if name in SETTINGS else ports, name)


def _class_in(annotated: Any) -> type | None:
    """The class of attrs that a field is annotated with, also where it may be None."""
    classes = get_args(annotated) if isinstance(annotated, UnionType) else (annotated,)
    return next((one for one in classes if isinstance(one, type) and has(one)), None)


class Part:
    """An attribute of a bundle, of the class in its annotation."""

    def __init__(self, module: str, names: dict[str, str]) -> None:
        self.module, self.names = module, names  # which part or setting a field is that has another name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.kind = name, owner.__annotations__[name]

    def __get__(self, ports: "Bundle | None", owner: type) -> Any:
        if ports is None:
            return self
        made = ports.__dict__[self.name] = self.make(ports)
        return made

    def make(self, ports: "Bundle") -> Any:
        """One more, of the parts of these ports."""
        own = {field: _named(name, ports) for field, name in self.names.items()}
        return build(getattr(import_module(self.module), self.kind), ports, **own)


class FromModule(Part):
    """The object that the module has under the name of the attribute."""

    def make(self, ports: "Bundle") -> Any:  # noqa: ARG002
        """The same for all."""
        return getattr(import_module(self.module), self.name)


def built(module: str, **names: str) -> Any:
    """A use case that others hold."""
    return Part(module, names)


def stored(module: str, *, store: str = "items", **names: str) -> Any:
    """A repository."""
    return Part(module, {"store": store, **names})


def held(module: str) -> Any:
    """A function."""
    return FromModule(module, {})
