"""Expands the loops of a template, and works out all that CloudFormation itself could not (ADR 0155).

A template is written with what the transform AWS::LanguageExtensions adds: `Fn::ForEach`, `Fn::FindInMap` with a
`DefaultValue`, and functions in places where CloudFormation wants a name, such as `!Ref` of a `!FindInMap`. SAM
packages code by its paths, and follows no path that a loop makes. So the loops are expanded before that, and what
is built, packaged, deployed, and run on one machine is a template without any of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from operate.deploy.decided import without_decided
from operate.deploy.errors import TemplateError
from operate.deploy.routes import with_gathered_routes
from operate.deploy.settled import LOOP, NONE, SECTIONS, settled, without_settled

TRANSFORM = "AWS::LanguageExtensions"
SHARED = "Shared"
NOTHING = {"Ref": "AWS::NoValue"}
PLACEHOLDER = re.compile(r"([$&])\{(\w+)\}")
LOGICAL_ID = re.compile(r"[A-Za-z0-9]+")

Names = Mapping[str, Any]  # what a name stands for: an item of a loop, or the list of a parameter that is settled here


def expand(template: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """The template that CloudFormation is given. `given` are values of parameters, of which those of loops count here.

    Errors: TemplateError.
    """
    return with_gathered_routes(without_loops(template, given))


def without_loops(template: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """The same with each route as it is written. Errors: TemplateError."""
    values = settled(template, given)
    work = _Work(template.get("Mappings", {}))
    expanded = without_settled(without_shared(template), values)
    for section in SECTIONS:
        if section in expanded:
            expanded[section] = work.section(expanded[section], values)
    if "Outputs" in expanded:  # the join of no names; AWS does not say what it makes of an output without a text
        expanded["Outputs"] = {
            name: {**one, "Value": one["Value"] or NONE} for name, one in expanded["Outputs"].items()
        }
    if "Globals" in expanded:
        expanded["Globals"] = work.value(expanded["Globals"], {})
    expanded = without_decided(expanded)
    transforms = template.get("Transform", [])
    left = [one for one in (transforms if isinstance(transforms, list) else [transforms]) if one != TRANSFORM]
    expanded.pop("Transform", None)
    if left:
        expanded["Transform"] = left[0] if len(left) == 1 else left
    if "Mappings" in expanded:
        used = set(_maps_in([expanded[one] for one in (*SECTIONS, "Globals") if one in expanded]))
        expanded["Mappings"] = {name: table for name, table in template["Mappings"].items() if name in used}
        if not expanded["Mappings"]:
            del expanded["Mappings"]
    return expanded


def without_shared(template: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is written once in its metadata: by its YAML aliases it stands wherever it is needed (ADR 0172)."""
    if SHARED not in template.get("Metadata", {}):
        return dict(template)
    return {**template, "Metadata": {name: one for name, one in template["Metadata"].items() if name != SHARED}}


class _Work:
    """The functions and tables that are the same in all of a template."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables = tables
        self.functions: dict[str, Callable[[Any, Names], Any]] = {
            "Ref": self._ref,
            "Fn::Sub": self._sub,
            "Fn::FindInMap": self._find,
            "Fn::GetAtt": self._get_att,
            "Fn::Join": self._join,
            "Fn::Split": self._split,
            "Fn::Select": self._select,
            "Fn::If": lambda argument, names: {"Fn::If": [self.value(one, names) for one in argument]},
        }

    def section(self, section: Mapping[str, Any], names: Names) -> dict[str, Any]:
        """A section; its keys are logical ids."""
        made = self._members(section, names)
        for name in made:
            if not LOGICAL_ID.fullmatch(name):
                raise TemplateError(f"A loop makes the logical id {name!r}; it has letters and digits only.")
        return made

    def value(self, node: Any, names: Names) -> Any:
        """Works out a value: a text or a list if that can be done, else the function with the parts that could be."""
        if isinstance(node, list):
            return [one for one in (self.value(item, names) for item in node) if one != NOTHING]
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            [(function, argument)] = node.items()
            if function in self.functions:
                return self.functions[function](argument, names)
            if function in ("Fn::Length", "Fn::ToJsonString"):
                raise TemplateError(f"{function} needs {TRANSFORM}, and is not worked out when a template is packaged.")
        return self._members(node, names)

    def _members(self, node: Mapping[str, Any], names: Names) -> dict[str, Any]:
        """Of a mapping; each loop in it is replaced by what it makes. A member without a value is left out."""
        made: dict[str, Any] = {}
        for key, item in node.items():
            members = self._loop(key, item, names) if str(key).startswith(LOOP) else [(key, self.value(item, names))]
            for name, value in members:
                if name in made:
                    raise TemplateError(f"{name} is made twice, the second time by {key}.")
                if value != NOTHING:
                    made[name] = value
        return made

    def _loop(self, key: str, loop: Any, names: Names) -> Iterator[tuple[str, Any]]:
        match loop:
            case [str(variable), collection, dict(bodies)]:
                items = self.value(collection, names)
            case _:
                raise TemplateError(f"{key} is not a name, a list and what is made of each.")
        if not isinstance(items, list) or not all(isinstance(one, str | int) for one in items):
            raise TemplateError(f"{key} is over {collection}, which is no list that is known when it is packaged.")
        for item in items:
            within = {**names, variable: str(item)}
            for name, body in bodies.items():
                if name.startswith(LOOP):
                    yield from self._loop(name, body, within)
                else:
                    yield _filled(name, within), self.value(body, within)

    def _ref(self, argument: Any, names: Names) -> Any:
        name = self._name("Ref", argument, names)
        return names.get(name, {"Ref": name})

    def _get_att(self, argument: Any, names: Names) -> Any:
        if isinstance(argument, str):
            return {"Fn::GetAtt": argument}
        return {"Fn::GetAtt": [self._name("Fn::GetAtt", one, names) for one in argument]}

    def _name(self, function: str, argument: Any, names: Names) -> str:
        name = self.value(argument, names)
        if not isinstance(name, str):
            raise TemplateError(f"{function} has {argument}, which is no name that is known when it is packaged.")
        return name

    def _sub(self, argument: Any, names: Names) -> Any:
        text, own = (argument, {}) if isinstance(argument, str) else argument
        known = {name: self.value(value, names) for name, value in own.items()}
        filled = _filled(text, {**{name: one for name, one in names.items() if isinstance(one, str)}, **known}, "$")
        left = {name: value for name, value in known.items() if not isinstance(value, str)}
        if left:
            return {"Fn::Sub": [filled, left]}
        return {"Fn::Sub": filled} if "${" in filled else filled

    def _find(self, argument: Any, names: Names) -> Any:
        *keys, last = argument
        has_default = isinstance(last, dict) and "DefaultValue" in last
        path = [self.value(one, names) for one in (keys if has_default else argument)]
        if not all(isinstance(one, str) for one in path):
            if has_default:
                raise TemplateError(f"Fn::FindInMap with a DefaultValue has {path}; all of it must be known.")
            return {"Fn::FindInMap": path}
        table, row, column = path
        found = self.tables.get(table, {}).get(row, {}).get(column)
        if found is None and not has_default:
            raise TemplateError(f"The table {table} has no {column} of {row}.")
        return self.value(last["DefaultValue"], names) if found is None else found

    def _join(self, argument: Any, names: Names) -> Any:
        between, items = argument[0], self.value(argument[1], names)
        if isinstance(items, list) and all(isinstance(one, str) for one in items):
            return between.join(items)
        return {"Fn::Join": [between, items]}

    def _split(self, argument: Any, names: Names) -> Any:
        between, text = argument[0], self.value(argument[1], names)
        return text.split(between) if isinstance(text, str) else {"Fn::Split": [between, text]}

    def _select(self, argument: Any, names: Names) -> Any:
        index, items = argument[0], self.value(argument[1], names)
        return items[int(index)] if isinstance(items, list) else {"Fn::Select": [index, items]}


def _filled(text: str, names: Names, kinds: str = "$&") -> str:
    """`${Name}` is what the name stands for, and `&{Name}` the same without what a logical id must not have."""

    def of(found: re.Match[str]) -> str:
        kind, name = found.groups()
        if kind not in kinds or not isinstance(names.get(name), str):
            return found[0]
        return str(names[name]) if kind == "$" else re.sub(r"[^A-Za-z0-9]", "", names[name])

    return PLACEHOLDER.sub(of, text)


def _maps_in(value: Any) -> Iterator[str]:
    """The tables in which CloudFormation still has to look."""
    if isinstance(value, list):
        for item in value:
            yield from _maps_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "Fn::FindInMap":
                yield item[0]
            yield from _maps_in(item)
