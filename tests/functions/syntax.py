"""The classes and functions of a package, by their full names, and what an annotation says: all of it read as text."""

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from attrs import field, frozen

Function = ast.FunctionDef | ast.AsyncFunctionDef

IS, OF, GIVES, CLASS, CALLS = "is", "of", "gives", "class", "calls"
# What a value may be: ("is", a class), ("of", what is in a container), ("gives", what a call returns),
# ("class", a class itself), ("calls", a function).
Kinds = frozenset[tuple[str, "str | Kinds"]]
NOTHING: Final[Kinds] = frozenset()
OURS: Final = ("delayer.", "functions.")  # the modules that are looked at
WRAPS: Final = {"Final", "ClassVar", "Annotated", "Optional", "Union"}  # around what it is


@frozen(kw_only=True)
class Parameter:
    """Of a function."""

    name: str
    kinds: Kinds = NOTHING
    by_name_only: bool = False
    rest: str = ""  # `*` or `**`: it takes whatever is left


@frozen(kw_only=True, eq=False)
class Defined:
    """A function or a method."""

    name: str  # in full
    module: "Module"
    node: Function
    of: "Kind | None" = None  # the class that has it

    @cached_property
    def marks(self) -> set[str]:
        """The names of its decorators."""
        calls = (one.func if isinstance(one, ast.Call) else one for one in self.node.decorator_list)
        return {ast.unparse(one).rpartition(".")[2] for one in calls}

    @property
    def is_value(self) -> bool:
        """It is read as a field is."""
        return bool({"property", "cached_property"} & self.marks)

    @cached_property
    def returns(self) -> Kinds:
        """Of what it yields, a container."""
        return self.module.kinds(self.node.returns)

    @cached_property
    def parameters(self) -> list[Parameter]:
        """In their order, without the object or the class that a method is called on."""
        given = self.node.args
        named = [
            *((one, False) for one in [*given.posonlyargs, *given.args]),
            *((one, True) for one in given.kwonlyargs),
        ]
        if self.of and "staticmethod" not in self.marks:
            named = named[1:]
        found = [
            Parameter(name=one.arg, kinds=self.module.kinds(one.annotation), by_name_only=only) for one, only in named
        ]
        rest = [(one, mark) for one, mark in ((given.vararg, "*"), (given.kwarg, "**")) if one]
        return found + [
            Parameter(name=one.arg, kinds=frozenset({(OF, self.module.kinds(one.annotation))}), rest=mark)
            for one, mark in rest
        ]

    @property
    def receiver(self) -> str:
        """What it calls its object; empty if it has none."""
        has_one = self.of and not {"staticmethod", "classmethod"} & self.marks
        return self.node.args.args[0].arg if has_one else ""


@frozen(kw_only=True, eq=False)
class Kind:
    """A class."""

    name: str  # in full
    module: "Module"
    node: ast.ClassDef

    @cached_property
    def bases(self) -> list[str]:
        """In full, those of ours."""
        named = [one.value if isinstance(one, ast.Subscript) else one for one in self.node.bases]
        return [name for one in named if (name := self.module.full(ast.unparse(one)))]

    @cached_property
    def is_protocol(self) -> bool:
        """Not what is derived from one."""
        return any(ast.unparse(one).partition("[")[0].endswith("Protocol") for one in self.node.bases)

    @cached_property
    def methods(self) -> dict[str, Defined]:
        """Its own."""
        return {
            one.name: Defined(name=f"{self.name}.{one.name}", module=self.module, node=one, of=self)
            for one in self.node.body
            if isinstance(one, Function)
        }

    @cached_property
    def fields(self) -> dict[str, Kinds]:
        """Its own, in their order."""
        return {
            one.target.id: self.module.kinds(one.annotation)
            for one in self.node.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        }


@frozen(eq=False)
class Module:
    """A file. What it imports anywhere in it has its name everywhere in it."""

    name: str
    tree: ast.Module
    others: Mapping[str, "Module"]  # by their names; it is one of them

    @cached_property
    def classes(self) -> dict[str, Kind]:
        """At its top level."""
        nodes = [one for one in self.tree.body if isinstance(one, ast.ClassDef)]
        return {one.name: Kind(name=f"{self.name}.{one.name}", module=self, node=one) for one in nodes}

    @cached_property
    def functions(self) -> dict[str, Defined]:
        """At its top level."""
        nodes = [one for one in self.tree.body if isinstance(one, Function)]
        return {one.name: Defined(name=f"{self.name}.{one.name}", module=self, node=one) for one in nodes}

    @property
    def defined(self) -> list[Defined]:
        """Its functions, and the methods of its classes."""
        return [*self.functions.values(), *(one for kind in self.classes.values() for one in kind.methods.values())]

    @cached_property
    def imported(self) -> dict[str, str]:
        """In full, by the name that it has here."""
        nodes = list(ast.walk(self.tree))
        several = [(str(one.module), name) for one in nodes if isinstance(one, ast.ImportFrom) for name in one.names]
        whole = [name for one in nodes if isinstance(one, ast.Import) for name in one.names]
        return {name.asname or name.name: f"{module}.{name.name}" for module, name in several} | {
            name.asname or name.name: name.name for name in whole
        }

    @cached_property
    def aliases(self) -> dict[str, ast.expr]:
        """`Name = another type`, at its top level."""
        return {
            target.id: one.value
            for one in self.tree.body
            if isinstance(one, ast.Assign)
            for target in one.targets
            if isinstance(target, ast.Name)
        }

    def full(self, name: str) -> str:
        """Of a class or a function of this module, or an imported one; empty if it is neither."""
        first, dot, rest = name.partition(".")
        if first in self.classes or first in self.functions:
            return f"{self.name}.{name}"
        return f"{self.imported[first]}{dot}{rest}" if first in self.imported else ""

    def kinds(self, annotation: ast.expr | None, within: frozenset[str] = frozenset()) -> Kinds:
        """What is of this type: nothing that is not a class of ours, or gives or holds one, counts.

        `within` are the aliases whose meaning it is part of: one that has itself in it ends there.
        """
        match annotation:
            case ast.Constant(value=str(text)):
                return self.kinds(_parsed(text), within)
            case ast.BinOp(left=left, right=right):
                return self.kinds(left, within) | self.kinds(right, within)
            case ast.Name(id=name) if name in self.aliases:
                return NOTHING if name in within else self.kinds(self.aliases[name], within | {name})
            case ast.Name() | ast.Attribute():
                return self._named(real(self.full(ast.unparse(annotation)), self.others), within)
            case ast.Subscript(value=value, slice=inner):
                return self._subscripted(value, inner, within)
        return NOTHING

    def _named(self, name: str, within: frozenset[str]) -> Kinds:
        """By a full name: of another module, it may be an alias."""
        module, _, last = name.rpartition(".")
        there = self.others.get(module)
        if there and last in there.aliases:
            return NOTHING if name in within else there.kinds(there.aliases[last], within | {name})
        return frozenset({(IS, name)}) if there and last in there.classes else NOTHING

    def _subscripted(self, value: ast.expr, inner: ast.expr, within: frozenset[str]) -> Kinds:
        name = ast.unparse(value).rpartition(".")[2]
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name == "Literal":
            return NOTHING
        if name == "Callable":
            return frozenset({(GIVES, self.kinds(parts[-1], within))})
        inside = NOTHING.union(*(self.kinds(one, within) for one in parts))
        if name == "type":
            return frozenset((CLASS, one) for kind, one in inside if kind == IS)
        if name in WRAPS:
            return inside
        return self.kinds(value, within) or frozenset({(OF, inside)})


def _parsed(text: str) -> ast.expr | None:
    """None of what is no annotation."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def real(name: str, modules: Mapping[str, Module]) -> str:
    """The full name where it stands: a module may have it from another one."""
    module, _, last = name.rpartition(".")
    there = modules.get(module)
    if there is None or last in there.classes or last in there.functions or last not in there.imported:
        return name
    return real(there.imported[last], modules)


@frozen(eq=False)
class Package:
    """Its modules, by their names."""

    modules: Mapping[str, Module] = field()

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """All classes."""
        return {kind.name: kind for module in self.modules.values() for kind in module.classes.values()}

    @cached_property
    def functions(self) -> dict[str, Defined]:
        """Those of modules, and the methods of classes."""
        return {one.name: one for module in self.modules.values() for one in module.defined}

    def real(self, name: str) -> str:
        """Where it stands: a module may have it from another one."""
        return real(name, self.modules)

    @cached_property
    def lines(self) -> dict[str, list[Kind]]:
        """Of each class: it and those that it is derived from, the nearest first."""
        return {name: list(self._line(name)) for name in self.kinds}

    def _line(self, name: str) -> Iterator[Kind]:
        waiting, seen = [name], set[str]()
        while waiting:
            one = self.real(waiting.pop(0))
            if one in self.kinds and one not in seen:
                seen.add(one)
                yield self.kinds[one]
                waiting += self.kinds[one].bases

    @cached_property
    def derived(self) -> dict[str, set[str]]:
        """The classes that are derived from each, at whatever distance, and itself."""
        found: dict[str, set[str]] = {name: set() for name in self.kinds}
        for name, line in self.lines.items():
            for base in line:
                found[base.name].add(name)
        return found

    def method(self, kind: str, name: str) -> Defined | None:
        """Of a class, or inherited."""
        return next((one.methods[name] for one in self.lines[kind] if name in one.methods), None)

    def running(self, kind: str, name: str) -> list[Defined]:
        """What may run: its method, or that of what is derived from it or answers it."""
        others = [kind, *self.derived[kind], *self.answering(kind)]
        return list({one.name: one for each in others if (one := self.method(each, name))}.values())

    def fields(self, kind: str) -> dict[str, Kinds]:
        """In the order of its constructor, those that it inherits first."""
        together: dict[str, Kinds] = {}
        for one in reversed(self.lines[kind]):
            together.update(one.fields)
        return together

    def members(self, kind: str) -> set[str]:
        """The names of its fields and methods."""
        return self._members[kind]

    @cached_property
    def _members(self) -> dict[str, set[str]]:
        return {
            kind: {name for one in line for name in [*one.fields, *one.methods]} for kind, line in self.lines.items()
        }

    def answering(self, kind: str) -> list[str]:
        """The classes that have all members of a protocol; none, if it is a class of another sort."""
        return self._answering.get(kind, [])

    @cached_property
    def _answering(self) -> dict[str, list[str]]:
        classes = {name: self.members(name) for name, one in self.kinds.items() if not one.is_protocol}
        protocols = [name for name, one in self.kinds.items() if one.is_protocol]
        return {one: [name for name, has in classes.items() if self.members(one) <= has] for one in protocols}


def package(texts: Mapping[str, str]) -> Package:
    """Of the text of each module, by the name of the module."""
    modules: dict[str, Module] = {}
    modules |= {name: Module(name, ast.parse(text), modules) for name, text in texts.items()}
    return Package(modules)
