"""Writes what is made of other files: actions and policies in `openapi.yaml` and in the layer, request schemas, routes.

The classes in `functions/executor-*/app.py` are the only source of the actions (ADR 0088), those in
`functions/policy-*/app.py` of the policies (ADR 0096), and `openapi.yaml` is that of all else. The Lambdas carry JSON
and no YAML parser; a test keeps all of them the same. Run as `make contract`.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any, Final

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "shared"))

from api_template import TEMPLATE, template_text  # noqa: E402 - it lies beside this file
from delayer.actions.rules import model as action_type  # noqa: E402 - the path comes first
from delayer.actions.rules.model import ActionType  # noqa: E402
from delayer.masking.mask import secrets_of  # noqa: E402
from delayer.schedule.json_text import parsed  # noqa: E402

OPENAPI: Final = ROOT / "openapi.yaml"
CONTRACT: Final = ROOT / "shared/delayer/http/contract.json"
BUILT_IN: Final = ROOT / "shared/delayer/actions/rules/built_in.json"
POLICIES: Final = ROOT / "shared/delayer/accept/rules/policies.json"
BEGIN: Final = "    # ---- actions: written by `make contract` from functions/executor-*/app.py\n"
END: Final = "    # ---- end of the actions\n"
BEGIN_POLICIES: Final = "    # ---- policies: written by `make contract` from functions/policy-*/app.py\n"
END_POLICIES: Final = "    # ---- end of the policies\n"
REMOTE: Final = ActionType(type="remote", schema='{"type":"object"}', internal=True)  # for all those of other stacks


def actions() -> list[ActionType]:
    """The descriptions that the classes of Delayer's own executors give, by type."""
    folders = sorted(path.parent for path in ROOT.glob("functions/executor-*/app.py"))
    return [_action_in(folder) for folder in folders]


def _action_in(folder: Path) -> ActionType:
    kind = folder.name.removeprefix("executor-")
    if kind == REMOTE.type:
        return REMOTE
    action: ActionType = _handler_in(folder).target.action_type
    if action.type != kind:
        raise SystemExit(f"{folder}/app.py has an executor for {action.type!r}; the folder's name says {kind!r}.")
    return action


def _handler_in(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"app_of_{folder.name.replace('-', '_')}", folder / "app.py")
    if not spec or not spec.loader:
        raise SystemExit(f"{folder}/app.py cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.handler


def policies() -> dict[str, str]:
    """The schema of each policy, as its class says it, by its name."""
    return dict(map(_policy_in, sorted(path.parent for path in ROOT.glob("functions/policy-*/app.py"))))


def _policy_in(folder: Path) -> tuple[str, str]:
    name, found = folder.name.removeprefix("policy-"), _handler_in(folder).target
    if found.name != name:
        raise SystemExit(f"{folder}/app.py has a policy {found.name!r}; the folder's name says {name!r}.")
    if secrets_of(parsed(found.schema)):
        raise SystemExit(f"{folder}/app.py: a policy has no secrets; whoever may see the schedule sees it.")
    return name, found.schema


def policies_text() -> str:
    """The file in which the layer has the policies of the own stack."""
    return json.dumps(policies(), indent=1, sort_keys=True, ensure_ascii=True) + "\n"


def built_in_text() -> str:
    """The file in which the layer has the actions of the own stack."""
    texts = {action.type: action_type.encode(action) for action in actions()}
    return json.dumps(texts, indent=1, sort_keys=True, ensure_ascii=True) + "\n"


def openapi_text() -> str:
    """`openapi.yaml` with the actions and the policies as they are now."""
    text = _having(OPENAPI.read_text(), BEGIN, END, _schemas_of_actions())
    return _having(text, BEGIN_POLICIES, END_POLICIES, _schemas_of_policies())


def _having(text: str, first: str, last: str, schemas: dict[str, Any]) -> str:
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise SystemExit(f"openapi.yaml has no place for what is made of the classes: between\n{first}and\n{last}")
    return before + begin + _indented(schemas) + end + after


def _schemas_of_policies() -> dict[str, Any]:
    known = policies()
    references = {name: f"#/components/schemas/{_class_name(name, 'Policy')}" for name in known}
    union = {
        "description": "Who decides when it is due, by the name of the policy.",
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "policy", "mapping": references},
    }
    return {"When": union} | {_class_name(name, "Policy"): parsed(schema) for name, schema in known.items()}


def _schemas_of_actions() -> dict[str, Any]:
    known = {action.type: action for action in actions() if not action.internal}
    references = {kind: f"#/components/schemas/{_class_name(kind)}" for kind in known}
    union = {
        "description": "What is to be done, by type.",
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "type", "mapping": references},
    }
    return {"Action": union} | {_class_name(kind): parsed(action.schema) for kind, action in known.items()}


def _class_name(kind: str, of: str = "Action") -> str:
    """`http-request` is HttpRequestAction."""
    return "".join(part.capitalize() for part in kind.split("-")) + of


def _indented(schemas: dict[str, Any]) -> str:
    text = yaml.safe_dump(schemas, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False)
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))


def contract() -> dict[str, Any]:
    """The part of the API that the functions need: request schemas with the action left open, and the routes."""
    openapi = yaml.safe_load(OPENAPI.read_text())
    schemas = openapi["components"]["schemas"]
    request = _resolved({**schemas["ScheduleRequest"], "properties": _open(schemas, "ScheduleRequest")}, schemas)
    for reported_in_words_of_our_own in ("dependentSchemas", "if", "then"):  # which of the three fields is given
        del request[reported_in_words_of_our_own]
    series = _resolved({**schemas["SeriesRequest"], "properties": _open(schemas, "SeriesRequest")}, schemas)
    preview = _resolved({**schemas["PreviewRequest"], "properties": _open(schemas, "PreviewRequest")}, schemas)
    series_change = {**schemas["SeriesChangeRequest"], "properties": _open(schemas, "SeriesChangeRequest")}
    return {
        "request": request,
        "change": {
            name: value for name, value in _resolved(schemas["ChangeRequest"], schemas).items() if name != "not"
        },
        "series": series,
        "seriesChange": _resolved(series_change, schemas),
        "backfill": _resolved(schemas["BackfillRequest"], schemas),
        "preview": preview,
        "rotation": _resolved(schemas["RotationRequest"], schemas),
        "listing": _query(openapi, "/schedules", "get"),
        "seriesListing": _query(openapi, "/series", "get"),
        "occurrences": _query(openapi, "/series/{seriesId}/occurrences", "get"),
        "next": _query(openapi, "/series/{seriesId}/next", "get"),
        "connections": _connections(openapi),
        "connectionTest": _resolved(schemas["ConnectionTestRequest"], schemas),
        "connectionListing": _query(openapi, "/connections", "get"),
        "group": _query(openapi, "/schedules", "delete"),
        "read": _that(openapi, "x-delayer-access", "read"),  # they change nothing, and show no secret
        "create": _that(openapi, "x-delayer-creates", True),  # by them an owner gets something new (ADR 0147)
        "routes": {path: _functions(item) for path, item in sorted(openapi["paths"].items())},
    }


def _connections(openapi: dict[str, Any]) -> dict[str, Any]:
    """The schema of each type of connection."""
    schemas = openapi["components"]["schemas"]
    mapping = schemas["ConnectionRequest"]["discriminator"]["mapping"]
    return {kind: _resolved({"$ref": reference}, schemas) for kind, reference in mapping.items()}


def _named_by(field: str) -> dict[str, Any]:
    return {"type": "object", "required": [field], "properties": {field: {"type": "string"}}}


OPEN: Final[dict[str, Any]] = {
    "action": _named_by("type"),  # which actions there are is known when the stack is deployed
    "when": _named_by("policy"),  # policies are checked one by one, as actions are
    "repeat": {},  # a rule is read by the code that reckons its times, which says more than a schema can
}


def _open(schemas: dict[str, Any], request: str) -> dict[str, Any]:
    """The fields of a request, without the schemas of what is checked elsewhere."""
    return {name: OPEN.get(name, schema) for name, schema in schemas[request]["properties"].items()}


def _functions(item: dict[str, Any]) -> dict[str, str]:
    """By method: the function that answers."""
    answering = {method.upper(): one["x-delayer-function"] for method, one in item.items() if method != "parameters"}
    return dict(sorted(answering.items()))


def _that(openapi: dict[str, Any], name: str, value: object) -> list[str]:
    """The routes of which an operation says this."""
    operations = (
        (f"{method.upper()} {path}", operation)
        for path, item in openapi["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    )
    return sorted(route for route, operation in operations if operation.get(name) == value)


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
    """`contract.json` as it is committed."""
    return json.dumps(contract(), indent=1, ensure_ascii=True) + "\n"


def main() -> int:
    """Writes all five; a file that is up to date already is left alone. With `--check` it only says which are not."""
    parser = argparse.ArgumentParser(description="Writes what is made of the classes of the actions and openapi.yaml.")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a file is out of date")
    only_checks = parser.parse_args().check
    made = (
        (OPENAPI, openapi_text()),
        (BUILT_IN, built_in_text()),
        (POLICIES, policies_text()),
        (CONTRACT, text()),
        (TEMPLATE, template_text(yaml.safe_load(OPENAPI.read_text()))),
    )
    behind = {path: content for path, content in made if not path.exists() or path.read_text() != content}
    for path, content in behind.items():
        if only_checks:
            print(f"{path.relative_to(ROOT)} is out of date; run: make contract", file=sys.stderr)
        else:
            path.write_text(content)
            print(f"Wrote {path.relative_to(ROOT)}.")
    return 1 if only_checks and behind else 0


if __name__ == "__main__":
    sys.exit(main())
