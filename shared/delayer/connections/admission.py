"""The body of a call about connections becomes a request, or a list of all that is wrong with it (ADR 0105).

No value is in an error: each field of a secret is `writeOnly` in the contract.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from attrs import field, frozen

from delayer.connections.model import ConnectionType
from delayer.connections.rules import Values
from delayer.http.field_errors import (
    CONNECTION_LISTING,
    CONNECTION_TEST,
    CONNECTIONS,
    CompiledSchema,
    errors_of,
    first_errors,
    shortened,
)
from delayer.http.json_body import MAX_ERRORS, fields_of
from delayer.http.problem import FieldError, Invalid, TooLarge
from delayer.masking.mask import is_sensitive, masked_value
from delayer.owners.model import HTTP_REQUEST, pattern_of
from delayer.schedule.json_text import integer

MOST_HINTS: Final = 5  # headers that are named
LARGEST_BODY: Final = 32_768  # bytes; Secrets Manager takes 65,536
DEFAULT_LIMIT: Final = 50
NAME: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}")  # as openapi.yaml has it
_PUBLIC: Final = frozenset(
    {"headerName", "username", "clientId", "scope", "audience", "clientAuthentication", "tokenUrl"}
)


class _Action(msgspec.Struct):
    type: Any = ""
    headers: Any = None


class _Body(msgspec.Struct):
    action: _Action | None = None


_BODY: Final = msgspec.json.Decoder(_Body)


def hints_for(body: bytes) -> list[str]:
    """Of the body of a schedule or a series that was accepted. A body without headers, as most are, costs nothing."""
    if b"headers" not in body and b"\\u" not in body:
        return []
    try:
        action = _BODY.decode(body).action
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []
    if action is None or action.type != HTTP_REQUEST or not isinstance(action.headers, dict):
        return []
    named = sorted(name for name in action.headers if is_sensitive(name))
    return [_hint(name) for name in named[:MOST_HINTS]]


def _hint(name: str) -> str:
    return (
        f"The header {shortened(name)} looks like a secret, and is stored with the schedule until that is forgotten. "
        "A connection keeps it apart: PUT /connections/{name}, and name it in action.connection."
    )


@frozen(kw_only=True)
class ConnectionRequest:
    """A well-formed connection."""

    values: Values = field(repr=False)
    shown: str  # the fields that are no secrets, as JSON
    hosts: tuple[str, ...] = ()  # as in Connection


@frozen(kw_only=True)
class ConnectionListing:
    """A well-formed question for connections."""

    limit: int
    after: str  # the name that the last page ended with; empty for the first page


def admit_connection(body: bytes) -> ConnectionRequest:
    """The connection in the body of a PUT. Raises NotJson, TooLarge or Invalid."""
    document = _document(body)
    kind = document.get("type")
    known = [str(one) for one in ConnectionType]
    if not isinstance(kind, str) or kind not in known:
        problem = "missing" if "type" not in document else "not allowed"
        raise Invalid([FieldError(field="type", problem=problem, allowed=", ".join(known))])
    schema = CONNECTIONS[kind]
    if errors := first_errors(_faults(schema, document)):
        raise Invalid(errors)
    hosts = tuple(document.get("hosts", ()))
    fields = {name: str(value) for name, value in document.items() if name not in ("type", "hosts")}
    public = {name: value for name, value in fields.items() if name in _PUBLIC}
    if "tokenUrl" in public:
        public["tokenUrl"] = masked_value("url", public["tokenUrl"])
    shown = json.dumps(public, separators=(",", ":"))
    return ConnectionRequest(values=Values(type=ConnectionType(kind), fields=fields), shown=shown, hosts=hosts)


def _faults(schema: CompiledSchema, document: Mapping[str, Any]) -> Iterable[FieldError]:
    found = [*errors_of(schema, document)]
    yield from found
    wrong = {error.field for error in found}
    for name, value in document.items():
        if name not in wrong and isinstance(value, str) and not _is_unicode(value):
            yield FieldError(field=shortened(name), problem="no Unicode text", allowed="text in UTF-8")
    if not any(field.startswith("hosts") for field in wrong):
        yield from _faults_of_hosts(document.get("hosts", ()))


def _faults_of_hosts(hosts: Iterable[str]) -> Iterable[FieldError]:
    """They are patterns as owner policies have them."""
    for number, one in enumerate(hosts):
        try:
            pattern_of(one)
        except ValueError as error:
            allowed = "api.example.com, *.example.com or [2001:db8::1], with a port behind a colon, or * for any port"
            yield FieldError(field=f"hosts[{number}]", problem=str(error), allowed=allowed)


def _is_unicode(text: str) -> bool:
    """Half a surrogate pair, which JSON may escape, can be sent to nobody."""
    return text.encode("utf-8", "replace").decode() == text


def _document(body: bytes) -> Mapping[str, Any]:
    if len(body) > LARGEST_BODY:
        raise TooLarge(f"The body has {len(body):,} bytes; at most {LARGEST_BODY:,} are allowed.")
    return fields_of(body).values


def admit_test(body: bytes) -> str:
    """The URL in the body of a test. Raises NotJson, TooLarge or Invalid."""
    document = _document(body)
    if errors := first_errors(errors_of(CONNECTION_TEST, document)):
        raise Invalid(errors)
    return str(document["url"])


def admit_connection_listing(query: Mapping[str, str]) -> ConnectionListing:
    """The listing that a query asks for. Raises Invalid."""
    document: dict[str, Any] = {**query}
    if re.fullmatch(r"-?[0-9]+", document.get("limit", ""), re.ASCII):
        document["limit"] = integer(document["limit"])
    errors = [*errors_of(CONNECTION_LISTING, document)]
    after = name_in(document["cursor"]) if "cursor" in document else ""
    if after is None:
        errors.append(
            FieldError(field="cursor", problem="not one of ours", allowed="the nextCursor of the page before")
        )
    if errors or after is None:
        raise Invalid(errors[:MAX_ERRORS])
    return ConnectionListing(limit=document.get("limit", DEFAULT_LIMIT), after=after)


def admit_force(query: Mapping[str, str]) -> bool:
    """Whether a DELETE is to be done in any case. Raises Invalid for what is not understood."""
    unknown = sorted(set(query) - {"force"})
    errors = [FieldError(field=shortened(name), problem="unknown field", allowed="force") for name in unknown]
    if query.get("force", "false") not in ("true", "false"):
        errors.append(FieldError(field="force", problem="not allowed", allowed="true or false"))
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    return query.get("force") == "true"


def cursor_of(name: str) -> str:
    """The cursor of the page after this connection."""
    return base64.urlsafe_b64encode(f"1{name}".encode()).decode().rstrip("=")


def name_in(cursor: str) -> str | None:
    """The inverse; None if it is none of ours."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError:
        return None
    return text[1:] if text[:1] == "1" and NAME.fullmatch(text[1:]) and cursor_of(text[1:]) == cursor else None
