"""Finds the patterns of the tree: whatever is given to a function of `re`, wherever it stands."""

import ast
import importlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

ROOT: Final = Path(__file__).parents[3]
FOLDERS: Final = {"shared/delayer": "shared", "functions": "", "client/delayer_client": "client", "local": ""}
FUNCTIONS: Final = frozenset({"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
CONTRACTS: Final = ("shared/delayer/http/contract.json", "shared/delayer/actions/rules/built_in.json")
AT_ONE_PLACE: Final = ({"match"}, {"fullmatch"})
ANYWHERE: Final = "search"  # it is tried at each place of a text


@frozen(kw_only=True)
class Found:
    """One pattern, where it stands, and how it is used."""

    where: str  # the path, and the name, or the text of the call
    pattern: "re.Pattern[Any] | None"  # None: it is made while the program runs
    method: str  # match, fullmatch, or search for all that may begin anywhere


@define
class Module:
    """One file."""

    path: Path
    tree: ast.Module
    name: str = field(init=False)
    assigned: dict[str, ast.expr] = field(factory=dict, init=False)  # at the top, by their names

    def __attrs_post_init__(self) -> None:
        relative = self.path.relative_to(ROOT)
        for folder, above in FOLDERS.items():
            if relative.is_relative_to(folder) and above:
                relative = relative.relative_to(above)
        self.name = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
        for node in self.tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                self.assigned.update(_named(target, node.value))

    def uses_of(self, name: str) -> set[str]:
        """The methods of what has this name here. What is handed on may be used in any way."""
        called, used = set[int](), set[str]()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
                used.add(node.attr)
                called.add(id(node.value))
        others = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node.id == name)
        return used | {ANYWHERE for node in others if isinstance(node.ctx, ast.Load) and id(node) not in called}

    def imports(self, name: str, module: "Module") -> bool:
        """Whether it takes this name from there."""
        nodes = (node for node in self.tree.body if isinstance(node, ast.ImportFrom) and node.module == module.name)
        return any(alias.name == name for node in nodes for alias in node.names)

    def calls(self) -> Iterator[tuple[Any, str]]:
        """Each use of `re`, and the name that it is given, if it is given one at the top."""
        names = {id(value): name for name, value in self.assigned.items()}
        yield from ((node, names.get(id(node), "")) for node in ast.walk(self.tree) if _is_use(node))

    def value_of(self, node: ast.expr) -> Any:
        """Of what can be told without running the module as a whole. Raises NameError if it cannot."""
        names: dict[str, Any] = {"re": re}
        for name in {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {"re"}:
            value = self.assigned.get(name)
            if value is not None:
                names[name] = self.value_of(value)
            elif any(isinstance(one, ast.ImportFrom) and _takes(one, name) for one in self.tree.body):
                names[name] = getattr(importlib.import_module(self.name), name)
        return eval(compile(ast.Expression(node), str(self.path), "eval"), names)


@cache
def patterns_of_the_tree() -> tuple[Found, ...]:
    """All of them, those of the contract, too, with which the API checks what clients send."""
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py")))
    modules = [Module(file, ast.parse(file.read_text(encoding="utf-8"))) for file in files]
    in_code = [found for module in modules for found in _in_module(module, modules)]
    return (*in_code, *_in_contracts())


def _in_module(module: Module, modules: list[Module]) -> Iterator[Found]:
    file = module.path.relative_to(ROOT).as_posix()
    for call, name in module.calls():
        used = {call.func.attr} - {"compile"}
        if name:
            users = [one for one in modules if one is module or one.imports(name, module)]
            used = set().union(*(one.uses_of(name) for one in users))
        method = next(iter(used)) if used in AT_ONE_PLACE else ANYWHERE
        yield Found(where=f"{file}: {name or ast.unparse(call)}", pattern=_pattern(module, call), method=method)


def _named(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    """The names of an assignment, and what each of them gets."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return {one.id: of for one, of in zip(target.elts, value.elts, strict=True) if isinstance(one, ast.Name)}
    return {target.id: value} if isinstance(target, ast.Name) else {}


def _is_use(node: ast.AST) -> bool:
    """A call of a function of `re`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr in FUNCTIONS


def _takes(node: ast.ImportFrom, name: str) -> bool:
    return any(name in (alias.asname, alias.name) for alias in node.names)


def _pattern(module: Module, call: Any) -> "re.Pattern[Any] | None":
    """As the module itself makes it. None if that needs more than what stands at its top."""
    flags = [one.value for one in call.keywords if one.arg == "flags"]
    flags += call.args[1:2] if call.func.attr == "compile" else []
    flags += call.args[2:3] if call.func.attr in ("search", "match", "fullmatch", "findall", "finditer") else []
    try:
        return re.compile(*(module.value_of(one) for one in [call.args[0], *flags]))
    except NameError:
        return None


def _in_contracts() -> Iterator[Found]:
    for file in CONTRACTS:
        written = sorted(set(_patterns_in(json.loads((ROOT / file).read_text(encoding="utf-8")))))
        yield from (Found(where=f"{file}: {one}", pattern=re.compile(one), method=ANYWHERE) for one in written)


def _patterns_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [value["pattern"]] if isinstance(value.get("pattern"), str) else []
        for one in value.values():
            yield from _patterns_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from _patterns_in(one)
