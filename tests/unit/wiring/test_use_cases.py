"""Who makes use cases, and that a function makes what its own needs, and no more."""

import ast
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import pytest
from attrs import Factory, define, evolve

from delayer.accept.use_cases.list_schedules import ListSchedules
from delayer.accept.use_cases.lookup import Lookup
from delayer.accept.use_cases.replace import Replace
from delayer.enqueue.sweep import Tick
from delayer.wiring import use_cases
from delayer.wiring.build import build
from delayer.wiring.bundle import PARTS
from tests.cfn import ROOT
from tests.functions.cold_start import cold_start
from tests.rooms import layer_of, parts_of
from tests.running.of_each import of_each
from tests.unit.wiring.test_build import COMPOSERS, Call, built, classes, missing_in, named
from tests.world import World

FACTORIES = ROOT / "shared/delayer/wiring/use_cases.py"
FUNCTIONS = sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))


@define
class Noting:
    """Passes on the parts of a bundle and its settings, and notes which were touched."""

    whole: Any
    touched: set[str] = Factory(set)

    def __getattr__(self, name: str) -> Any:
        if name == "settings":
            return Noting(self.whole.settings, self.touched)
        self.touched.add(name)
        return getattr(self.whole, name)


def test_what_is_built_touches_the_parts_that_its_fields_name_and_no_others() -> None:
    """So a function makes no adapter, and reads no setting, that it does not use."""
    complete = [one for one in classes().values() if not missing_in(Call(where="", kind=one, own={}, names={}))]
    assert len(complete) > 60
    for kind in complete:
        if layer_of(kind.__module__) == "use_cases":
            ports = Noting(World().ports("one"))
            build(kind, ports)  # type: ignore[arg-type] # it has all that a bundle has
            assert ports.touched == {name for one in built(kind) for name in named(one)}, kind


OF_AWS = re.compile(r"delayer\.engines\.aws\b|boto")


def module_of(one: Any) -> str:
    """Of a class or a function, where it stands; of an object, where its class does."""
    return str((one if isinstance(one, type | FunctionType) else type(one)).__module__)


def imports_aws(one: Any) -> bool:
    return isinstance(one, FunctionType) and any(OF_AWS.match(name) for name in one.__code__.co_names)


def has(one: Any) -> Iterator[Any]:
    """What an object has in it: in its fields, as a container, in the names that a function was made with."""
    match one:
        case dict():
            yield from one.values()
        case list() | tuple() | set() | frozenset():
            yield from one
        case FunctionType():
            yield from (cell.cell_contents for cell in one.__closure__ or ())
        case MethodType():
            yield from (one.__self__, one.__func__)
        case partial():
            yield from (one.func, one.args, one.keywords)
        case _ if module_of(one).startswith(("delayer.", "delayer_client.", "tests.")) and not isinstance(one, type):
            slots = {name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())}
            yield from vars(one).values() if hasattr(one, "__dict__") else ()
            yield from (getattr(one, name) for name in slots - {"__weakref__"} if hasattr(one, name))


def all_in(part: Any) -> list[Any]:
    """It, and whatever can be reached from it."""
    found, waiting = {id(part): part}, [part]
    while waiting:
        for one in has(waiting.pop()):
            if id(one) not in found:
                found[id(one)] = one
                waiting.append(one)
    return list(found.values())


@of_each(PARTS)
def test_no_part_reaches_aws_from_a_stack_in_memory(name: str) -> None:
    """Neither itself, nor by anything that it has, nor by a function that would import it when it is called.

    It takes seconds: each part has a stack of its own.
    """
    part = getattr(World().ports("one"), name)
    assert [repr(one) for one in all_in(part) if OF_AWS.match(module_of(one)) or imports_aws(one)] == []


def test_what_reaches_aws_would_be_found() -> None:
    def later() -> object:
        from delayer.engines.aws.messaging import SqsQueue

        return SqsQueue

    queue = later()
    for one in (queue, later, [{"a": queue}], lambda: queue, partial(print, queue), Noting(queue)):
        assert any(OF_AWS.match(module_of(each)) or imports_aws(each) for each in all_in(one)), one


@pytest.mark.parametrize("name", ["teapot", "streams"], ids=["nobody", "the stack alone"])
def test_what_no_bundle_has_is_an_error(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(World().ports("accept"), name)


@of_each(
    [
        (lambda ports: build(Replace, ports), "has_journal", "journal"),
        (lambda ports: build(Lookup, ports), "has_journal", "journal"),
        (lambda ports: build(ListSchedules, ports), "has_journal", "journal"),
        (use_cases.write_journal, "max_live", "live_count"),
    ],
    unpacked=True,
)
def test_what_is_switched_off_is_not_made(make: Any, setting: str, part: str) -> None:
    world = World()
    for value in (0, 1):
        vars(world).pop(part, None)  # the world itself has made it
        world.settings = evolve(world.settings, **{setting: value})  # type: ignore[arg-type] # a number, or a switch
        make(world.ports("one"))
        assert (part in vars(world)) == bool(value)


def test_each_tick_has_a_canary_where_it_is_switched_on() -> None:
    world = World()
    assert build(Tick, world.ports("tick")).canary is None
    world.settings = evolve(world.settings, has_canary=True)
    assert build(Tick, world.ports("tick")).canary is not None


def is_use_case(name: str) -> bool:
    return len(parts_of(name)) > 1 and layer_of(name) == "use_cases"


@of_each(COMPOSERS)
def test_nobody_else_puts_a_use_case_together(path: Path) -> None:
    """The functions, the tests' world and the simulation all build them: what they prove is what runs."""
    text = path.read_text()
    if "delayer." not in text:
        return  # to parse all files takes seconds
    nodes = list(ast.walk(ast.parse(text)))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    known = {one.name for node in imports for one in node.names if is_use_case(f"{node.module}.{one.name}")}
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    made = {node.id for node in called if isinstance(node, ast.Name)} & set(classes()) & known
    assert made == ({"Retention"} if path == FACTORIES else set()), "one has another time to keep than the stack"


WITHOUT = {"api-default"}
TWO = {
    "api-connection-put",  # stores, and deletes
    "executor-remote",  # also what a function of another stack says
    "api-series-get",  # a series, and what became of its occurrences
    "executor-http-request",  # what signs its requests
}
THREE = {"api-connection-test"}  # whether it may be tried, what it takes along, and what signs it
KNOWLEDGE = {"RegisteredActions"}  # of the registered types; the target of executor-remote holds it
KNOWLEDGE |= {"KnownOwnerPolicies"}  # of what owners may do
BESIDE = {"Refill"}  # what an executor receives beside its batch


@of_each(FUNCTIONS)
def test_a_function_wires_one_use_case(function: str) -> None:
    """It holds no other, but for those that this one holds.

    After a change of the code this takes most of a minute: each function is started.
    """
    wired = [name for name in cold_start(function).outermost if name not in KNOWLEDGE | BESIDE]
    assert set(wired) <= set(classes())
    assert len(wired) == (0 if function in WITHOUT else 3 if function in THREE else 2 if function in TWO else 1)


def test_each_use_case_is_wired_by_a_function() -> None:
    """Or when one needs it."""
    wired = {module for function in FUNCTIONS for module in cold_start(function).use_cases}
    known = {one.__module__ for one in classes().values() if layer_of(one.__module__) == "use_cases"}
    assert {module.rpartition(".")[2] for module in known - wired} == {"as_posted"}


@pytest.mark.parametrize(
    ("is_trying", "time", "receives"), [(False, True, True), (True, True, False), (False, False, False)]
)
def test_nothing_is_received_beside_a_suspect_nor_without_time(is_trying: bool, time: bool, receives: bool) -> None:
    guard: Any = World().guarded("execute")
    guard.is_trying = is_trying
    assert use_cases.refill(World().ports("execute"), guard, lambda: time).has_time() is receives
