"""Which methods a use case calls of each object that it holds, by the syntax tree of the code (ADR 0176).

What it holds is followed wherever it goes: into a local name, a parameter, the field of another class, what is
returned. Where it can be followed no further is an error with file and line: a call that nobody sees would be a
permission that nobody misses before production.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Final, TypeGuard

from attrs import evolve, field, frozen

from tests.cfn import ROOT
from tests.functions.syntax import (
    CALLS,
    CLASS,
    GIVES,
    IS,
    NOTHING,
    OF,
    Defined,
    Function,
    Kinds,
    Package,
    Parameter,
    package,
)

Place = tuple[str, str]  # the field of a class, the parameter of a function, or what it returns
SELF: Final = "<self>"
RETURNED: Final = "<returned>"
UNSEEN: Final = "<unseen>"  # a place that nobody can look into
RAISED: Final[Place] = ("<raised>", "whoever catches it")
ROUNDS: Final = 20
OF_CONTAINERS: Final = {"get", "items", "keys", "pop", "popleft", "copy", "values"}
FILLS: Final = {"add", "append", "appendleft", "extend", "insert", "setdefault", "update"}
MAKES: Final = {"Counter", "OrderedDict", "defaultdict", "deque", "dict", "list", "set", "sorted"}
ONLY_LOOKS: Final = {"bool", "callable", "id", "isinstance", "len", "print", "repr", "str", "type"}
HANDS_ON: Final = {  # what gives what it was given, or what is in it
    *("cast", "chain", "dict", "enumerate", "filter", "frozenset", "iter", "list", "max", "min", "next", "reversed"),
    *("set", "sorted", "tuple", "zip"),
}


def is_container(one: tuple[str, "str | Kinds"]) -> TypeGuard[tuple[str, Kinds]]:
    """What it holds stands beside."""
    return one[0] == OF


@frozen
class Value:
    """What an expression may be: where it is from, and what it is."""

    places: frozenset[Place] = frozenset()
    kinds: Kinds = NOTHING

    def __or__(self, other: "Value") -> "Value":
        return Value(self.places | other.places, self.kinds | other.kinds)

    def inside(self) -> "Value":
        """What is in it."""
        containers = [one for one in self.kinds if is_container(one) and one[1]]
        return Value(self.places, NOTHING.union(containers, *(one[1] for one in containers)))

    def held(self) -> "Value":
        """A container that has it. What is in one within another is not told from what is in that."""
        flat = NOTHING.union(*(one[1] if is_container(one) else {one} for one in self.kinds))
        return Value(self.places, frozenset({(OF, flat)}) if flat else NOTHING)


NONE: Final = Value()
LOST: Final = Value(kinds=frozenset({(GIVES, NOTHING)}))  # a function of which nobody sees what it does


def together(values: Iterable[Value]) -> Value:
    """Any of them."""
    found = NONE
    for one in values:
        found |= one
    return found


class Unseen(Exception):
    """A port cannot be followed."""


def classes_in(kinds: Kinds) -> Iterator[str]:
    """Of objects: those that it is, holds or gives."""
    for kind, one in kinds:
        if isinstance(one, frozenset):
            yield from classes_in(one)
        elif kind == IS:
            yield one


@frozen(eq=False)
class Flow:
    """What is done with what is at each place, and to which others it goes."""

    package: Package
    called: dict[Place, set[str]] = field(factory=lambda: defaultdict(set))  # methods, by their names
    guessed: dict[Place, set[str]] = field(factory=lambda: defaultdict(set))  # of what has no type that is known here
    goes_to: dict[Place, set[Place]] = field(factory=lambda: defaultdict(set))
    tops: dict[str, dict[str, Value]] = field(factory=lambda: defaultdict(dict))  # the names of each module

    def move(self, value: Value, to: Place) -> None:
        """What it is goes there, and the objects that it has."""
        for place in value.places:
            self.goes_to[place].add(to)
        for kind in classes_in(value.kinds):
            self.goes_to[self.package.real(kind), SELF].add(to)

    def methods(self, kind: str, name: str) -> list[str]:
        """What is called of what the field of a class holds, by all of its methods, in the order of the alphabet.

        Raises Unseen if it, or an object that has it in a field which is read then, goes where nothing is known of it.
        """
        places = self._reached((kind, name))
        where = {file for place, file in places if place == UNSEEN}
        for owner, one in places:
            readers = self._reached((owner, SELF), with_holders=True) if owner in self.package.kinds else ()
            where |= {", ".join(reader) for reader in readers if one in self.guessed[reader]}
        if where:
            raise Unseen(f"{kind}.{name} is handed on where nobody sees what is called of it: {sorted(where)}")
        return sorted(set().union(*(self.called[place] | self.guessed[place] for place in places)))

    def _reached(self, place: Place, with_holders: bool = False) -> set[Place]:
        """From this place, and it; where an object has it in a field, also from that object."""
        waiting, seen = [place], {place}
        while waiting:
            one = waiting.pop()
            further = self.goes_to.get(one, set()) - seen
            if with_holders and one[0] in self.package.kinds:
                further |= {(one[0], SELF)} - seen
            seen |= further
            waiting += further
        return seen


@frozen(eq=False)
class Reader:
    """Reads one function, or the top level of a module, into the flow."""

    package: Package
    flow: Flow
    module: str
    name: str  # of the function; empty: of the module
    known: dict[str, Value] = field(factory=dict)  # by local names
    own: dict[str, bool] = field(factory=dict)  # whether a local name is of nothing but containers made here
    outer: set[str] = field(factory=set)  # the names that are assigned here for somebody else

    # -------------------------------------------------------- statements

    def read(self, body: list[ast.stmt]) -> None:
        """Until no name has anything new: what a loop leaves is what it begins with."""
        for _ in range(ROUNDS):
            before = dict(self.known)
            for statement in body:
                self.statement(statement)
            if self.known == before:
                return
        raise Unseen(f"{self.module}.{self.name}: what its names are is never settled")

    def statement(self, node: ast.AST) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.inner(node)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self.assigned(node)
            case ast.Return(value=value):
                self.flow.move(self.value(value), (self.name, RETURNED))
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self.outer.update(names)
            case ast.ClassDef() if self.name:
                raise Unseen(f"{self.module}.{node.name} is a class within a function")
            case ast.ClassDef() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                self.compound(node)

    def assigned(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self.value(value)
                for target in targets:
                    self.bind(target, found, makes_container(value))
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                kinds = self.package.modules[self.module].kinds(annotation)
                self.bind(target, Value(kinds=kinds) | self.value(value), value is None or makes_container(value))
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self.fill(name, self.value(value).inside(), node)
            case ast.AugAssign(target=target, value=value):
                self.bind(target, self.value(value))

    def compound(self, node: ast.AST) -> None:
        match node:
            case ast.For(target=target, iter=values):
                self.bind(target, self.value(values).inside())
            case ast.withitem(context_expr=context, optional_vars=target):
                entered = self.value(context)
                for name in ("__enter__", "__exit__"):
                    self.attribute(entered, name)
                if target:
                    self.bind(target, entered | entered.inside())
                return
            case ast.Match(subject=subject, cases=cases):
                matched = self.value(subject)
                for one in cases:
                    self.captured(one.pattern, matched)
        self.thrown(node)
        self.all_in(node)

    def thrown(self, node: ast.AST) -> None:
        """What is caught without a type of ours may be whatever was raised anywhere."""
        match node:
            case ast.Raise(exc=raised):
                self.flow.move(self.value(raised), RAISED)
            case ast.ExceptHandler(type=kind, name=name) if name:
                caught = together(map(self.instance, kind.elts if isinstance(kind, ast.Tuple) else [kind]))
                self.keep(name, caught if caught.kinds else Value(frozenset({RAISED})))

    def all_in(self, node: ast.AST) -> None:
        """Whatever else it has in it."""
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.expr):
                self.value(one)
            else:
                self.statement(one)

    def captured(self, pattern: ast.pattern, matched: Value) -> None:
        """The names in a pattern: each may be what is matched, or be in it."""
        for one in ast.walk(pattern):
            if isinstance(one, ast.MatchAs | ast.MatchStar) and one.name:
                self.keep(one.name, matched | matched.inside())
            elif isinstance(one, ast.MatchClass):
                self.parts_of(one, matched)

    def parts_of(self, pattern: ast.MatchClass, matched: Value) -> None:
        """What has a name in it is a field of what is matched."""
        of = matched | self.instance(pattern.cls)
        for name, one in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            if isinstance(one, ast.MatchAs) and one.name:
                self.keep(one.name, self.attribute(of, name))

    def instance(self, node: ast.expr | None) -> Value:
        """Of a class that has this name."""
        return Value(kinds=self.package.modules[self.module].kinds(node))

    def inner(self, node: Function) -> None:
        """A function within this one knows its names."""
        module = self.package.modules[self.module]
        for one in node.decorator_list:
            self.value(one)
        defaults = self.defaults(node.args)
        if not self.name and node.name in module.functions:
            return  # it is read by itself
        inside = Defined(name=f"{self.name}.{node.name}:{node.lineno}", module=module, node=node)
        self.package.functions.setdefault(inside.name, inside)
        self.keep(node.name, Value(kinds=frozenset({(CALLS, inside.name)})))
        for name, value in defaults.items():
            self.flow.move(value, (inside.name, name))
        read_function(self.package, self.flow, self.package.functions[inside.name], self.known)

    def defaults(self, arguments: ast.arguments) -> dict[str, Value]:
        """By the names of the parameters: they are read where the function stands."""
        by_place = [*arguments.posonlyargs, *arguments.args]
        with_one = [*by_place[len(by_place) - len(arguments.defaults) :], *arguments.kwonlyargs]
        values = [*arguments.defaults, *arguments.kw_defaults]
        return {one.arg: self.value(value) for one, value in zip(with_one, values, strict=True)}

    def bind(self, target: ast.expr, value: Value, is_made: bool = False) -> None:
        match target:
            case ast.Name(id=name):
                self.keep(name, value, is_made)
                if name in self.outer:
                    self.lose(value, target)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for one in parts:
                    self.bind(one, value.inside() if value.inside().kinds else value)
            case ast.Starred(value=inner):
                self.bind(inner, value)
            case ast.Attribute(value=of, attr=name):
                self.put(self.value(of), name, value, target)
            case ast.Subscript(value=ast.Name(id=name)):
                self.fill(name, value, target)
            case _:
                self.lose(value, target)

    def put(self, of: Value, name: str, value: Value, node: ast.expr) -> None:
        """It becomes a field of an object."""
        owners = [str(kind) for is_, kind in of.kinds if is_ == IS]
        for kind in owners:
            self.flow.move(value, (self.package.real(kind), name))
        if not owners:
            self.lose(value, node)

    def keep(self, name: str, value: Value, is_made: bool = False) -> None:
        self.known[name] = self.known.get(name, NONE) | value
        self.own[name] = self.own.get(name, True) and is_made

    def fill(self, name: str, value: Value, node: ast.AST) -> None:
        """It is put into a container. Who else has one that was not made here is not known."""
        self.known[name] = self.known.get(name, NONE) | value.held()
        if not self.own.get(name):
            self.lose(value, node)

    def lose(self, value: Value, node: ast.AST) -> None:
        """Nobody sees what becomes of it."""
        self.flow.move(value, (UNSEEN, f"{self.module.replace('.', '/')}.py:{getattr(node, 'lineno', 0)}"))

    # -------------------------------------------------------- expressions

    def value(self, node: ast.expr | None) -> Value:
        match node:
            case None | ast.Constant():
                return NONE
            case ast.Name(id=name):
                return self.named(name)
            case ast.Attribute(value=of, attr=name):
                return self.dotted(node) or self.attribute(self.value(of), name)
            case ast.Call():
                return self.call(node)
            case ast.Subscript(value=of, slice=index):
                self.value(index)
                whole = self.value(of)
                return Value(whole.places, frozenset(one for one in whole.kinds if one[0] == CLASS)) | whole.inside()
            case ast.NamedExpr(target=target, value=inner):
                found = self.value(inner)
                self.bind(target, found)
                return found
            case ast.Lambda(body=body):
                found = self.scoped(node.args, self.defaults(node.args)).value(body)
                return Value(found.places, frozenset({(GIVES, found.kinds)}))
            case _:
                return self.composed(node)

    def composed(self, node: ast.expr) -> Value:
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return together(map(self.value, parts)).held()
            case ast.Dict(keys=keys, values=values):
                unpacked = [value for key, value in zip(keys, values, strict=True) if key is None]
                named = together(map(self.value, [*(one for one in keys if one), *values])).held()
                return named | together(map(self.value, unpacked))
            case ast.Starred(value=inner) | ast.Await(value=inner):
                return self.value(inner)
            case ast.Yield(value=inner) | ast.YieldFrom(value=inner):
                self.flow.move(self.value(inner), (self.name, RETURNED))
                return NONE
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.comprehended(node)
        return self.either(node)

    def either(self, node: ast.expr) -> Value:
        """One of several."""
        match node:
            case ast.BoolOp(values=values):
                return together(map(self.value, values))
            case ast.IfExp(test=test, body=body, orelse=other):
                self.value(test)
                return self.value(body) | self.value(other)
            case ast.BinOp(left=left, right=right):
                return self.value(left) | self.value(right)
        self.all_in(node)  # a comparison, a text: what is looked at goes nowhere
        return NONE

    def comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        inside = Reader(self.package, self.flow, self.module, self.name, dict(self.known))
        for one in node.generators:
            inside.bind(one.target, inside.value(one.iter).inside())
            for condition in one.ifs:
                inside.value(condition)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return together(map(inside.value, parts)).held()

    def scoped(self, arguments: ast.arguments, defaults: dict[str, Value]) -> "Reader":
        """Within a lambda: its parameters hide what has their names."""
        hidden = {one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
        known = {name: value for name, value in self.known.items() if name not in hidden}
        return Reader(self.package, self.flow, self.module, self.name, known | dict.fromkeys(hidden, NONE) | defaults)

    def named(self, name: str) -> Value:
        if name in self.known:
            return self.known[name]
        return self.value_of(self.package.modules[self.module].full(name))

    def dotted(self, node: ast.Attribute) -> Value | None:
        """`module.name`."""
        module = self.package.modules[self.module]
        imported = module.imported.get(ast.unparse(node.value))
        found = self.value_of(f"{imported}.{node.attr}") if imported else NONE
        return None if found == NONE else found

    def value_of(self, full: str) -> Value:
        """A class or a function of ours, or what another module has by this name."""
        real = self.package.real(full)
        if real in self.package.kinds:
            return Value(kinds=frozenset({(CLASS, real)}))
        if real in self.package.functions:
            return Value(kinds=frozenset({(CALLS, real)}))
        module, _, name = real.rpartition(".")
        return self.flow.tops[module].get(name, NONE)

    def attribute(self, of: Value, name: str) -> Value:
        """It is read of an object; of a port, it is called."""
        found = [self.member(of, kind, one, name) for kind, one in of.kinds]
        if not of.kinds:
            for place in of.places:
                self.flow.guessed[place].add(name)
            return Value(of.places)  # what is read of it may be what it has
        return together(found)

    def member(self, of: Value, kind: str, one: "str | Kinds", name: str) -> Value:
        if kind == OF and name in FILLS:
            return LOST
        if kind == OF and name in OF_CONTAINERS:
            return Value(of.places, frozenset({(GIVES, of.inside().kinds | of.inside().held().kinds)}))
        if kind not in (IS, CLASS) or not isinstance(one, str):
            return NONE
        real = self.package.real(one)
        if real not in self.package.kinds:
            return NONE
        for place in of.places:
            self.flow.called[place].add(name)
        method = self.package.method(real, name)
        if kind == CLASS and method and method.receiver:
            return LOST  # it is not known of which object
        return self.of_class(real, name)

    def of_class(self, kind: str, name: str) -> Value:
        """A field, or a method; else what its constructor has set."""
        fields, method = self.package.fields(kind), self.package.method(kind, name)
        if name in fields or method is None:
            return Value(frozenset({(kind, name)}), fields.get(name, NOTHING))
        if method.is_value:
            return self.returned([method.name])
        return Value(kinds=frozenset((CALLS, each.name) for each in self.package.running(kind, name)))

    # -------------------------------------------------------- calls

    def call(self, node: ast.Call) -> Value:
        name, given = last_of(node.func), self.given(node)
        if name in FILLS and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            local = self.known.get(node.func.value.id, NONE)
            if all(kind == OF for kind, _ in local.kinds):
                self.fill(node.func.value.id, given.all, node)
                return given.all
        function = self.value(node.func)
        if name == "super":
            return self.named(SELF)
        if not function.kinds and not function.places:
            return self.foreign(name, node, given)
        if not function.kinds:
            if not isinstance(node.func, ast.Attribute):  # else its name is what is called
                self.attribute(function, "__call__")
            self.lose(given.all, node)
        return together([self.call_of(function, kind, one, given) for kind, one in function.kinds])

    def given(self, node: ast.Call) -> "Given":
        """Each argument is looked at once."""
        return Given(
            node=node,
            places=[(self.value(one), isinstance(one, ast.Starred)) for one in node.args],
            names=[(one.arg, self.value(one.value)) for one in node.keywords],
        )

    def foreign(self, name: str, node: ast.Call, given: "Given") -> Value:
        """What is called is not ours."""
        if name in ("evolve", "build") and node.args:
            return self.made_like(given)
        if name == "cast":
            return given.all | self.instance(node.args[0])
        if name == "partial" and node.args:
            return self.partly(given)
        if name in HANDS_ON:
            if any(kind in (CALLS, GIVES, CLASS) for kind, _ in given.all.kinds):
                self.lose(given.all, node)  # a function is called with them
            return given.all | given.all.held() | given.all.inside()
        if name not in ONLY_LOOKS:
            self.lose(given.all, node)
        return NONE

    def made_like(self, given: "Given") -> Value:
        """A copy with other fields; or an object of a class, of which the wiring fills the other fields."""
        like, _ = given.places[0]
        kinds = {self.package.real(str(one)) for kind, one in like.kinds if kind in (IS, CLASS)}
        for name, value in given.names:
            for kind in kinds:
                self.flow.move(value, (kind, str(name)))
            if not kinds:
                self.lose(value, given.node)
        return Value(like.places, frozenset((IS, one) for one in kinds))

    def partly(self, given: "Given") -> Value:
        """A function that has some of its arguments already."""
        (function, _), *places = given.places
        rest = evolve(given, places=places)
        if not function.kinds:
            self.lose(rest.all, given.node)
        for kind, one in function.kinds:
            self.call_of(function, kind, one, rest)
        return function

    def call_of(self, function: Value, kind: str, one: "str | Kinds", given: "Given") -> Value:
        if not isinstance(one, str):
            self.lose(given.all, given.node)
            return Value(function.places, one if kind == GIVES else NOTHING)
        if kind == CLASS:
            return self.made(one, given)
        if kind == CALLS:
            self.hand_over(given, self.package.functions[one].parameters, one)
            return self.returned([one])
        return self.call_object(Value(function.places, frozenset({(IS, one)})), given)

    def call_object(self, of: Value, given: "Given") -> Value:
        """A function, too, may stand where a protocol is called: what that is given is not seen."""
        called = self.attribute(of, "__call__")
        if of.places or not called.kinds:
            self.lose(given.all, given.node)
        return together([self.call_of(called, kind, one, given) for kind, one in called.kinds])

    def returned(self, names: list[str]) -> Value:
        of = [self.package.functions[name] for name in names]
        return Value(frozenset((one.name, RETURNED) for one in of), NOTHING.union(*(one.returns for one in of)))

    def made(self, kind: str, given: "Given") -> Value:
        """An object of a class: what it is given is in its fields."""
        fields = {name.lstrip("_"): name for name in self.package.fields(kind)}
        if init := self.package.method(kind, "__init__"):
            self.hand_over(given, init.parameters, init.name)
        else:
            self.hand_over(given, [Parameter(name=one) for one in fields], kind, fields)
        return Value(kinds=frozenset({(IS, kind)}))

    def hand_over(
        self, given: "Given", parameters: list[Parameter], name: str, called: Mapping[str, str] | None = None
    ) -> None:
        """Each argument goes to its parameter, which the place may have another name for."""
        for value, one in given.to(parameters):
            if one:
                self.flow.move(value, (name, called[one] if called else one))
            else:
                self.lose(value, given.node)


@frozen(kw_only=True)
class Given:
    """The arguments of a call."""

    node: ast.Call
    places: list[tuple[Value, bool]]  # in their order, and whether each stands for several
    names: list[tuple[str | None, Value]]

    @cached_property
    def all(self) -> Value:
        return together([*(value for value, _ in self.places), *(value for _, value in self.names)])

    def to(self, parameters: list[Parameter]) -> Iterator[tuple[Value, str]]:
        """Each argument with the name of its parameter; with none, if it has none."""
        free = [one.name for one in parameters if not one.by_name_only and one.rest != "**"]
        has_rest = any(one.rest == "*" for one in parameters)
        for number, (value, is_several) in enumerate(self.places):
            if is_several:
                yield from ((value.inside(), one) for one in free[number:] or [""])
            elif number < len(free):
                yield value, free[number]
            else:
                yield value, free[-1] if has_rest else ""
        yield from self._by_name(parameters)

    def _by_name(self, parameters: list[Parameter]) -> Iterator[tuple[Value, str]]:
        named = [one.name for one in parameters if not one.rest]
        rest = next((one.name for one in parameters if one.rest == "**"), "")
        for name, value in self.names:
            if name is None:
                yield from ((value.inside(), one) for one in named)
            else:
                yield value, name if name in named else rest


def makes_container(node: ast.expr) -> bool:
    """A new one, that nobody else has."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in MAKES
    return isinstance(node, ast.List | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp)


def last_of(function: ast.expr) -> str:
    """What is called, without whom it is called of."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def read_function(of: Package, flow: Flow, function: Defined, outside: Mapping[str, Value]) -> None:
    """Its parameters, and its object, are the places where what it is given comes in."""
    known = dict(outside)
    for one in function.parameters:
        known[one.name] = Value(frozenset({(function.name, one.name)}), one.kinds)
    if function.of and function.receiver:
        known[SELF] = known[function.receiver] = Value(kinds=frozenset({(IS, function.of.name)}))
    Reader(of, flow, function.module.name, function.name, known).read(function.node.body)


def read(of: Package) -> Flow:
    """All of it."""
    flow = Flow(of)
    for _ in range(2):  # a module has names of one that comes after it
        for module in of.modules.values():
            Reader(of, flow, module.name, "", flow.tops[module.name]).read(module.tree.body)
    for module in of.modules.values():
        for function in module.defined:
            read_function(of, flow, function, flow.tops[module.name])
    for kind in of.kinds:
        for name in {*of.derived[kind], *of.answering(kind)} - {kind}:
            for one in [SELF, *of.members(kind)]:  # who knows it as its base, or as a protocol, has it, too
                flow.goes_to[name, one].add((kind, one))
    return flow


SHARED: Final = ROOT / "shared"
OF_ONE_MACHINE: Final = {"serve", "sqlite"}


def texts() -> Iterator[tuple[str, str]]:
    """Of each module of the package, and of each function; but for the engine on one machine: no function has it."""
    of_functions = (path for path in (SHARED / "delayer").rglob("*.py") if not OF_ONE_MACHINE & {*path.parts})
    for path in of_functions:
        yield ".".join(path.relative_to(SHARED).with_suffix("").parts).removesuffix(".__init__"), path.read_text()
    for path in (ROOT / "functions").glob("*/app.py"):
        yield f"functions.{path.parent.name}.app", path.read_text()


@cache
def calls() -> Flow:
    """Of all code but what fills the fields, of whatever class. It takes some seconds."""
    return read(package({name: text for name, text in texts() if name != "delayer.wiring.build"}))
