"""`build` fills the fields of a use case by their names; here it is held that each name means what its type says.

A misspelt name, and one part in the place of another, are found here before anything runs.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib import import_module
from itertools import combinations
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
import pytest
from typing_extensions import get_protocol_members, is_protocol

from delayer.accept.use_cases.accept import Accept
from delayer.accept.use_cases.issue import IdCheck
from delayer.engines.memory import ManualClock
from delayer.ledger.ports import Ledger
from delayer.timing.decide import Decide
from delayer.wiring import bundle, settings, use_cases
from delayer.wiring.build import FromModule, Part, build
from delayer.wiring.bundle import PARTS, Bundle
from delayer.wiring.environment import Environment
from delayer.wiring.settings import SETTINGS, Settings
from tests.cfn import ROOT
from tests.fakes import stack
from tests.running.of_each import of_each
from tests.world import World

FUNCTIONS = sorted((ROOT / "functions").glob("*/app.py"))
COMPOSERS = [
    *FUNCTIONS,
    *sorted((ROOT / "shared/delayer").rglob("*.py")),
    *sorted((ROOT / "client/delayer_client/testing").rglob("*.py")),
    ROOT / "tests/world.py",
    *sorted((ROOT / "tests/simulation").rglob("*.py")),
]


def for_mypy_alone(module: Any) -> dict[str, Any]:
    """What a module imports only if types are checked."""
    tree = ast.parse(Path(str(module.__file__)).read_text())
    [guarded] = [one for one in tree.body if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(body=guarded.body, type_ignores=[]), "imports", "exec"), names)
    return names


@cache
def typed() -> dict[str, Any]:
    """The type of each part of the bundle, and of each setting."""
    known = {**vars(settings), **vars(bundle), **for_mypy_alone(settings), **for_mypy_alone(bundle)}
    parts = {name: part for name, part in vars(Bundle).items() if isinstance(part, cached_property)}
    made = {name: get_type_hints(part.func, known)["return"] for name, part in parts.items()}
    return {**get_type_hints(Settings, known), **get_type_hints(Bundle, known), **made}


# ------------------------------------------------------------ types


def answers(given: Any, wanted: Any) -> bool:
    """Whether what is of the one type can stand where the other is wanted."""
    if wanted is Any or given == wanted:
        return True
    if get_origin(given) in (Union, UnionType):
        return all(answers(one, wanted) for one in get_args(given))
    if get_origin(wanted) in (Union, UnionType):
        return any(answers(given, one) for one in get_args(wanted))
    if get_origin(wanted) is Callable and isinstance(given, type):
        return has_parameters(given, len(get_args(wanted)[0]))
    if is_protocol(wanted):
        return all(
            same_call(getattr(given, name, None), getattr(wanted, name)) for name in get_protocol_members(wanted)
        )
    return is_kind_of(given, get_origin(wanted) or wanted) and same_arguments(given, wanted)


def same_call(given: Any, wanted: Any) -> bool:
    """It takes the same parameters; what it takes besides may be left out."""
    if given is None or not callable(wanted):
        return given is not None
    asked, taken = (inspect.signature(one).parameters for one in (wanted, given))
    more = [one for name, one in taken.items() if name not in asked]
    return list(asked) == [name for name in taken if name in asked] and all(
        one.default is not one.empty for one in more
    )


def has_parameters(given: Any, number: int) -> bool:
    """Whether what is of this class can be called with so many."""
    call = vars(given).get("__call__")
    return bool(call) and len(inspect.signature(call).parameters) == number + 1


def is_kind_of(given: Any, wanted: Any) -> bool:
    kind = get_origin(given) or given
    return isinstance(kind, type) and isinstance(wanted, type) and issubclass(kind, wanted)


def same_arguments(given: Any, wanted: Any) -> bool:
    """Of what is generic: those of the class itself, or of the one that it is derived from."""
    bases = [given, *getattr(given, "__orig_bases__", ())]
    return not get_args(wanted) or any(get_args(one) == get_args(wanted) for one in bases)


# ------------------------------------------------------------ calls of `build`


@attrs.frozen(kw_only=True)
class Call:
    """`build(kind, ports, …)` in a file."""

    where: str
    kind: type
    own: dict[str, ast.expr]
    names: dict[str, Any]  # that the file imports


def calls_in(path: Path) -> list[Call]:
    text = path.read_text()
    if "build(" not in text or "wiring.build import build" not in text:
        return []
    return calls_of(ast.parse(text), str(path.relative_to(ROOT)))


def calls_of(tree: ast.Module, where: str) -> list[Call]:
    names = imported_in(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "build"]
    return [call_of(node, where, names) for node in calls if ast.unparse(node.args[0]) in names]


def call_of(node: ast.Call, where: str, names: dict[str, Any]) -> Call:
    where = f"{where}:{node.lineno}"
    assert len(node.args) == 2, f"{where}: what is not in the bundle is given by name"
    own = {str(one.arg): one.value for one in node.keywords if one.arg}
    return Call(where=where, kind=names[ast.unparse(node.args[0])], own=own, names=names)


def imported_in(tree: ast.Module) -> dict[str, Any]:
    """What it imports of ours, wherever in it."""
    nodes = [
        one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom) and str(one.module).startswith("delayer.")
    ]
    pairs = [(str(one.module), name.name) for one in nodes for name in one.names]
    found = {name: getattr(import_module(module), name, None) for module, name in pairs}
    return {name: one for name, one in found.items() if one is not None}


@cache
def calls() -> list[Call]:
    return [call for path in COMPOSERS for call in calls_in(path)]


def needed(kind: type, own: set[str]) -> list["attrs.Attribute[Any]"]:
    """Its fields that are neither given nor in the bundle, and have no default."""
    fields = [one for one in attrs.fields(kind) if one.init and one.default is attrs.NOTHING]
    return [one for one in fields if one.name not in {*typed(), *own, "store", "table"}]


def use_cases_in(annotated: Any) -> list[type]:
    kinds = get_args(annotated) if isinstance(annotated, UnionType) else (annotated,)
    return [one for one in kinds if isinstance(one, type) and attrs.has(one)]


def parts_of(kind: type, own: set[str]) -> list[type]:
    return [part for one in needed(kind, own) for part in use_cases_in(one.type)]


def built(kind: type) -> Iterator[type]:
    """It, and the use cases that are built for it."""
    yield kind
    for part in parts_of(kind, set()):
        yield from built(part)


@cache
def classes() -> dict[str, type]:
    """All that are filled by name: what somebody builds, and the parts that are told by their class."""
    parts = [typed()[name] for name, part in vars(Bundle).items() if type(part) is Part]
    roots = [*(call.kind for call in calls()), *parts]
    return {one.__qualname__: one for root in roots for one in built(root)}


def named(kind: type) -> dict[str, Any]:
    """The fields that are filled by name, with their types."""
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in attrs.fields(kind) if one.init and one.name in typed()}


def type_of(value: ast.expr, call: Call) -> Any:
    """Of an argument, where it is a part, a setting or a use case; Any where it is something else."""
    match value:
        case ast.Attribute(value=ast.Name(id="ports"), attr=name):
            return typed()[name]
        case ast.Call(func=ast.Name(id="build"), args=[ast.Name(id=name), *_]):
            return call.names[name]
        case ast.Call(func=ast.Name(id=name)) if name in vars(use_cases):
            return get_type_hints(vars(use_cases)[name], {**vars(use_cases), **for_mypy_alone(use_cases)})["return"]
        case ast.Constant(value=None):
            return NoneType
    return Any


def wrong_in(call: Call) -> list[str]:
    """The arguments that are none of its fields, or another type than these have."""
    hints = {one.name: get_type_hints(call.kind)[one.name] for one in attrs.fields(call.kind) if one.init}
    unknown = [name for name in call.own if name not in hints]
    given = {name: type_of(value, call) for name, value in call.own.items() if name in hints}
    return unknown + [name for name, one in given.items() if one is not Any and not answers(one, hints[name])]


def missing_in(call: Call) -> list[str]:
    """The fields that nobody fills: of its class, and of the use cases that are built for it."""
    top = unfilled(call.kind, set(call.own))
    inner = [part for one in parts_of(call.kind, set(call.own)) for part in built(one)]
    return top + [f"{one.__name__}.{name}" for one in inner for name in unfilled(one, set())]


def unfilled(kind: type, own: set[str]) -> list[str]:
    return [one.name for one in needed(kind, own) if not use_cases_in(one.type)]


# ------------------------------------------------------------ what is held


def test_a_name_is_a_part_or_a_setting() -> None:
    assert set(typed()) == PARTS | set(SETTINGS)
    assert not PARTS & set(SETTINGS)


def test_the_module_of_a_part_has_the_class_of_its_annotation() -> None:
    """It stands there as a text, so that it is imported only when the part is asked for."""
    made = {name: part for name, part in vars(Bundle).items() if isinstance(part, Part)}
    assert len(made) > 35
    held = {name: part for name, part in made.items() if isinstance(part, FromModule)}
    assert all(callable(getattr(import_module(part.module), name)) for name, part in held.items())
    others = {name: part for name, part in made.items() if name not in held}
    assert {name: getattr(import_module(part.module), part.kind) for name, part in others.items()} == {
        name: typed()[name] for name in others
    }


def test_a_field_that_has_the_name_of_a_part_has_its_type() -> None:
    """It takes seconds: all use cases are imported, and all calls of `build` are read."""
    assert len(classes()) > 90
    wrong = [
        f"{kind.__name__}.{name} wants {wanted}, and is {typed()[name]}"
        for kind in classes().values()
        for name, wanted in named(kind).items()
        if not answers(typed()[name], wanted)
    ]
    assert wrong == []


def test_each_call_gives_what_the_class_has_by_its_name_and_of_its_type() -> None:
    assert len(calls()) > 80
    assert {call.where: wrong for call in calls() if (wrong := wrong_in(call))} == {}


def test_each_call_gives_all_that_is_in_no_bundle() -> None:
    assert {call.where: missing for call in calls() if (missing := missing_in(call))} == {}


def asked_for(path: Path) -> set[str]:
    """The names that are read there of a bundle or of settings, or are given to what reads them by a name.

    What is only assigned, or stands in a comment or a docstring, is not asked for.
    """
    nodes = list(ast.walk(ast.parse(path.read_text())))
    read = {
        one.attr
        for one in nodes
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load)
        if ast.unparse(one.value).rpartition(".")[2] in {"ports", "self", "settings", "given"}
    }
    calls = [one for one in nodes if isinstance(one, ast.Call)]
    given = [value for one in calls for value in [*one.args, *(each.value for each in one.keywords)]]
    given += [value for one in nodes if isinstance(one, ast.arguments) for value in one.kw_defaults if value]
    return read | {one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_each_part_and_each_setting_is_needed() -> None:
    """By a use case, or by what makes one for AWS: what the stack in memory has of it is no need.

    It takes seconds: all use cases are imported.
    """
    by_name = {name for kind in classes().values() for name in named(kind)}
    wiring = {*(ROOT / "shared/delayer/wiring").glob("*.py")}
    others = set().union(*map(asked_for, [*FUNCTIONS, *wiring]))
    assert set(typed()) - by_name - others == set()


# ------------------------------------------------------------ and it would be found


def test_two_parts_in_each_others_place_are_found() -> None:
    """Of all pairs of parts that one use case has, by their types; the few that are of one type, by what they name."""
    pairs = {
        (kind, one, other)
        for kind in classes().values()
        for one, other in combinations(sorted(name for name in named(kind) if name in PARTS), 2)
    }
    unnoticed = {
        (one, other)
        for kind, one, other in pairs
        if answers(typed()[one], named(kind)[other]) and answers(typed()[other], named(kind)[one])
    }
    assert len(pairs) > 600
    assert {pair for pair in unnoticed if not of_one_type(*pair)} == set()
    assert {name for pair in unnoticed for name in pair} <= set(NAMED) | {"new_job_id", "new_token"}


def of_one_type(one: str, other: str) -> bool:
    return bool(typed()[one] == typed()[other])


NAMED = {  # the parts that are of one type with another one, with what each of them is for
    "schedules": "schedules_table",
    "waiting_records": "timing_table",
    "delayer_queue": "delayer_queue_url",
    "sweep_queue": "sweep_queue_url",
    "group_queue": "group_queue_url",
    "own_queue": "own_queue_url",
}


@of_each(NAMED)
def test_parts_of_one_type_are_for_what_their_settings_say(name: str) -> None:
    """In AWS, by settings that are an object: nothing in the environment is read."""
    each: dict[str, Any] = {one: one for one, attribute in SETTINGS.items() if attribute.type is str}
    ports = Environment("one", settings=attrs.evolve(stack.SETTINGS, **each))
    part = getattr(ports, name)
    assert {getattr(part, "url", None), getattr(part, "table", None)} == {NAMED[name], None}


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("build(Guard, ports, handle=print, queue=ports.delayer_queue)", []),
        ("build(Guard, ports, handle=print, queue=ports.ledger)", ["queue"]),
        ("build(Guard, ports, handle=print, queu=ports.delayer_queue)", ["queu"]),
        ("build(Guard, ports, handle=print, clock=ports.observer)", ["clock"]),
        ("build(Line, ports, gate=build(Guard, ports, handle=print))", ["gate"]),
        ("build(Line, ports, gate=None)", ["gate"]),
    ],
)
def test_a_wrong_argument_is_found(call: str, wrong: list[str]) -> None:
    [outer, *_] = calls_of(ast.parse(f"{IMPORTS}{call}"), "here")
    assert wrong_in(outer) == wrong


IMPORTS = """
from delayer.flow.room import Line
from delayer.recovery.guard import Guard
from delayer.timing.decide import Decide
"""


def test_a_missing_argument_is_found() -> None:
    found = [
        missing_in(one)
        for text in ("Guard", "Decide", "Line")
        for one in calls_of(ast.parse(f"{IMPORTS}build({text}, ports)"), "")
    ]
    assert found == [["handle"], ["choose"], ["Gate.heeds"]]
    with pytest.raises(TypeError, match="'choose'"):
        build(Decide, World().ports("policy"))


def test_a_field_that_is_misspelt_or_has_another_type_is_found() -> None:
    """A misspelt one is in no bundle, so that it is missing; each other field that a part could be has its own type."""

    @attrs.frozen(kw_only=True)
    class Misspelt:
        legder: Ledger

    @attrs.frozen(kw_only=True)
    class Mistaken:
        control: Ledger

    call = Call(where="", kind=Misspelt, own={}, names={})
    assert missing_in(call) == ["legder"]
    assert not answers(typed()["control"], named(Mistaken)["control"])


# ------------------------------------------------------------ what it makes


def test_a_use_case_is_made_of_the_parts_of_its_function() -> None:
    world = World()
    accept = build(Accept, world.ports("accept"))
    assert (accept.records, accept.ids.control, accept.quota.spending.quotas) == (
        world.records,
        world.control,
        world.settings.quotas,
    )


def test_what_is_given_goes_before_the_bundle_and_what_is_no_field_is_refused() -> None:
    world = World()
    clock = ManualClock(0)
    assert build(IdCheck, world.ports("get"), clock=clock).clock is clock
    with pytest.raises(TypeError, match="teapot"):
        build(IdCheck, world.ports("get"), teapot=1)
