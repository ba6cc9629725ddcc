"""Writes `delayer_client/api/models.py` from openapi.yaml: `python client/generate/models.py [--check]`.

What an answer may have is widened first: a value that a newer stack adds must not break an older client.
"""

import ast
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
TARGET = ROOT / "client/delayer_client/api/models.py"
# What the field calls them in Python: schedule.id, not schedule.schedule_id.
IDS = {"Schedule.scheduleId": "id", "Series.seriesId": "id", "Job.jobId": "id"}
# Checked by the stack, which says what is allowed. Here they would only be an older second opinion.
CHECKS = (
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "additionalProperties",
    "examples",
    "default",
    "not",
    "if",
    "then",
    "dependentSchemas",
)
TITLES = {("Schedule", "window"): "OpenWindow", ("Problem", "errors", "items"): "FieldProblem"}
HEADER = '''"""The classes of the API. Made by `make contract` from openapi.yaml: do not edit."""

# ruff: noqa
'''
OPTIONS = (
    "--input-file-type=openapi",
    "--output-model-type=msgspec.Struct",
    "--target-python-version=3.11",
    "--snake-case-field",
    "--use-standard-collections",
    "--use-union-operator",
    "--use-schema-description",
    "--use-field-description",
    "--enum-field-as-literal=all",
    "--output-datetime-class=datetime",
    "--base-class=delayer_client.api.base.Model",
    "--use-title-as-name",
    "--openapi-scopes=schemas",
    "--formatters=builtin",
    "--disable-timestamp",
)


def main() -> int:
    """0; 1 if `--check` finds that the file is not what openapi.yaml says."""
    text = generated(yaml.safe_load((ROOT / "openapi.yaml").read_text()))
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text)
        return 0
    if TARGET.read_text() == text:
        return 0
    print("client/delayer_client/api/models.py is not what openapi.yaml says; run: make contract", file=sys.stderr)
    return 1


def generated(document: Mapping[str, Any]) -> str:
    """The module's text."""
    with tempfile.TemporaryDirectory() as folder:
        source, target, aliases = (Path(folder) / name for name in ("openapi.json", "models.py", "aliases.json"))
        source.write_text(json.dumps(widened(document)))
        aliases.write_text(json.dumps(IDS))
        command = ["datamodel-codegen", f"--input={source}", f"--output={target}", f"--aliases={aliases}", *OPTIONS]
        subprocess.run([BIN / command[0], *command[1:]], check=True, capture_output=True)
        tree = Plainer().visit(ast.parse(target.read_text()))
        target.write_text(HEADER + ast.unparse(ast.fix_missing_locations(tree)))
        subprocess.run([BIN / "ruff", "format", "--quiet", "--isolated", "--line-length=120", target], check=True)
        return target.read_text()


class Plainer(ast.NodeTransformer):
    """A field that is not there is None; descriptions are docstrings only; a constant is the tag of its class."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`Annotated[X, Meta(…)]` is X."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "Annotated" and isinstance(node.slice, ast.Tuple):
            return node.slice.elts[0]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """`UNSET` and its type are None."""
        return ast.Constant(None) if node.id in ("UNSET", "UnsetType") else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        """Without what is not used any more."""
        node.names = [one for one in node.names if one.name not in ("UNSET", "UnsetType", "Meta", "Annotated")]
        for one in node.names:
            one.asname = "named" if one.name == "field" else None
        return node if node.names else None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """msgspec's `field` gets another name, so that a field may have this one."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Call):
            node.value.func = ast.Name("named")
        if ast.unparse(node.target) == "field_":
            node.target, node.value = ast.Name("field"), None
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A docstring begins and ends with its text."""
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = node.value.value.strip()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """`type: Literal['x']` is what msgspec calls a tag."""
        self.generic_visit(node)
        tags = [one for one in node.keywords if one.arg in ("tag", "tag_field")]  # it had them as part of a union
        node.keywords = [ast.keyword("frozen", ast.Constant(True)), ast.keyword("kw_only", ast.Constant(True)), *tags]
        for field in [one for one in node.body if isinstance(one, ast.AnnAssign)]:
            if field.value is None and (match := re.fullmatch(r"Literal\['([^']+)'\]", ast.unparse(field.annotation))):
                node.body.remove(field)
                name = ast.unparse(field.target)
                node.keywords += [
                    ast.keyword("tag_field", ast.Constant(name)),
                    ast.keyword("tag", ast.Constant(match[1])),
                ]
        return node


def widened(document: Mapping[str, Any]) -> dict[str, Any]:
    """The schemas alone, without checks; in those of answers no list of values and no union is closed."""
    schemas = document["components"]["schemas"]
    answers = reachable(schemas, [one["responses"] for path in document["paths"].values() for one in operations(path)])
    answers |= reachable(schemas, [document["components"]["responses"]])
    kept = {
        name: without_checks(opened(schema) if name in answers else schema)
        for name, schema in schemas.items()
        if name not in ("Action", "When") and not (name in answers and "oneOf" in schema)
    }
    for name in ("ScheduleRequest", "SeriesRequest", "SeriesChangeRequest", "ChangeRequest"):
        kept.pop(name)  # the surface takes their fields as arguments
    for (name, field, *deeper), title in TITLES.items():
        reduce(getitem, deeper, kept[name]["properties"][field])["title"] = title
    text = json.dumps(kept)
    for name in (one for one in schemas if one.endswith(("Action", "Policy"))):
        text = text.replace(f'"{name}"', f'"{name[:-6]}"').replace(f'/{name}"', f'/{name[:-6]}"')
    return {"openapi": "3.1.0", "info": document["info"], "paths": {}, "components": {"schemas": json.loads(text)}}


def operations(path: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Those of one path."""
    return (one for method, one in path.items() if method in ("get", "put", "post", "patch", "delete"))


def reachable(schemas: Mapping[str, Any], start: object) -> set[str]:
    """The names of the schemas that something refers to, directly or not."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in references(waiting.pop()):
            if name in schemas and name not in found:
                found.add(name)
                waiting.append(schemas[name])
    return found


def references(node: object) -> Iterator[str]:
    """The last part of each `$ref` in it."""
    if isinstance(node, Mapping):
        if isinstance(reference := node.get("$ref"), str):
            yield reference.rpartition("/")[2]
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from references(part)


def opened(node: Any) -> Any:
    """Without lists of values; what a team's own policy has is any object."""
    if isinstance(node, list):
        return [opened(part) for part in node]
    if not isinstance(node, dict):
        return node
    if str(node.get("$ref", "")).endswith("/When"):
        return {"type": "object", "description": "As it was sent."}
    return {key: opened(value) for key, value in node.items() if key != "enum"}


def without_checks(node: Any, *, is_properties: bool = False) -> Any:
    """The schema without what only checks; `additionalProperties` with a schema stays, as it gives a type."""
    if isinstance(node, list):
        return [without_checks(part) for part in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("description"), str) and not is_properties:
        node = {**node, "description": " ".join(node["description"].split())}
    return {
        key: without_checks(value, is_properties=key == "properties")
        for key, value in node.items()
        if is_properties or key not in CHECKS or (key == "additionalProperties" and isinstance(value, dict))
    }


if __name__ == "__main__":
    sys.exit(main())
