"""The class of an action: its fields, their bounds, and the texts that people read about them.

It is the only source (ADR 0088): from it come the validation at the API, the schema in the OpenAPI document, the page
in the documentation, and what the function receives.
"""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final, dataclass_transform

import msgspec
from msgspec import Meta

__all__ = ["Action", "Meta", "fields_of", "schema_of"]

_NAMED_LIKE_THE_CLASS: Final = "title"  # nobody reads it, and it is twice as long with it


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))  # for mypy alone
class Action(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The fields of an action. Subclass it: a field `queue_url` is `queueUrl` in the API.

    The bounds of a field are written with `Annotated[…, Meta(…)]`; `Meta` takes `pattern`, `min_length`, `max_length`,
    `ge`, `le`, `description`, `examples`, and more in `extra_json_schema`: `x-allowed`, the rule of a pattern in words;
    `writeOnly: true` for a secret, which is shown to the target only.
    """

    more_schema: ClassVar[Mapping[str, Any]] = {}  # what cannot be said of one field alone, as JSON Schema


def schema_of(fields: type[Action], kind: str, named_by: str = "type") -> dict[str, Any]:
    """The JSON Schema of an action of this type, or of a policy of this name, complete in itself."""
    schema, named = msgspec.json.schema_components([fields], ref_template="{name}")
    body = _inlined(schema[0], named)
    return {
        "type": "object",
        **({"description": text} if (text := (fields.__doc__ or "").strip()) else {}),
        "required": [named_by, *body.get("required", [])],
        "additionalProperties": False,
        "properties": {named_by: {"const": kind}, **body["properties"]},
        **fields.more_schema,
    }


def fields_of(fields: type[Action]) -> list[str]:
    """The names of the fields in the API."""
    return [field.encode_name for field in msgspec.structs.fields(fields)]


def _inlined(node: Any, named: Mapping[str, Any]) -> Any:
    """Without references: whoever validates with it needs nothing else."""
    if isinstance(node, list):
        return [_inlined(one, named) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined({**named[node["$ref"]], **{key: value for key, value in node.items() if key != "$ref"}}, named)
    return {key: _inlined(value, named) for key, value in node.items() if not _says_nothing(key, value)}


def _says_nothing(key: str, value: Any) -> bool:
    """A title; or the default of a text that may be left out, which a client must not send: its pattern refuses it."""
    return (key == _NAMED_LIKE_THE_CLASS and isinstance(value, str)) or (key == "default" and value == "")


def as_text(schema: Mapping[str, Any]) -> str:
    """A schema as compact JSON."""
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
