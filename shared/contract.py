"""Writes `delayer/core/api/contract.json`, the request schemas of `openapi.yaml` that the API Lambdas validate against.

The Lambdas carry JSON and no YAML parser; a test keeps both files the same. Run as `make contract`.
"""

import json
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "shared/delayer/core/api/contract.json"


def contract() -> dict[str, Any]:
    """What the functions need of it: request schemas with the action left open, and the routes."""
    openapi = yaml.safe_load((ROOT / "openapi.yaml").read_text())
    schemas = openapi["components"]["schemas"]
    request = _resolved(schemas["ScheduleRequest"], schemas)
    del request["oneOf"]  # which of the two fields is given is reported in words of our own
    # Which actions there are is known when the stack is deployed.
    request["properties"]["action"] = {"type": "object", "required": ["type"]}
    request["properties"]["action"]["properties"] = {"type": {"type": "string"}}
    return {
        "request": request,
        "change": {
            name: value for name, value in _resolved(schemas["ChangeRequest"], schemas).items() if name != "not"
        },
        "listing": _query(openapi, "/schedules", "get"),
        "group": _query(openapi, "/schedules", "delete"),
        "routes": {path: _methods(item) for path, item in sorted(openapi["paths"].items())},
    }


def _methods(item: dict[str, Any]) -> list[str]:
    return sorted(method.upper() for method in item if method != "parameters")


def _query(openapi: dict[str, Any], path: str, method: str) -> dict[str, Any]:
    """The parameters of a query as an object."""
    parameters = openapi["paths"][path][method]["parameters"]
    known = [one for one in parameters if one.get("in") == "query"]
    return {
        "type": "object",
        "required": [one["name"] for one in known if one.get("required")],
        "additionalProperties": False,
        "properties": {one["name"]: _resolved(one["schema"], openapi["components"]["schemas"]) for one in known},
    }


def _resolved(node: Any, schemas: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_resolved(item, schemas) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _resolved(schemas[node["$ref"].rsplit("/", 1)[1]], schemas)
    return {key: _resolved(value, schemas) for key, value in node.items() if key not in ("description", "examples")}


def text() -> str:
    """The file as it is committed."""
    return json.dumps(contract(), indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
