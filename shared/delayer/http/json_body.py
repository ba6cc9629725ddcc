"""The fields of a JSON body, read so that no digit and no byte of a payload is lost; those of a batch, and no body."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Annotated, Any, Final

import msgspec
from attrs import frozen

from delayer.http.problem import FieldError, Invalid, NotJson
from delayer.schedule.json_text import read

MAX_BYTES: Final = 262_144  # of what is looked at
MAX_ERRORS: Final = 50  # a body can be wrong in thousands of places; nobody reads them all
MAX_SHOWN: Final = 80  # characters of a value or a made-up name in an answer
ALLOWED: Final = "no body, or an empty object"
MAX_KEY: Final = 255  # characters of an idempotency key
KEY: Final = "idempotencyKey"  # of a schedule in a batch
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_Key = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_KEY)]
MAX_DEPTH: Final = 500  # levels; what reads a payload later has less of the stack left, and must not fail
TOO_DEEP: Final = f"it is nested more than {MAX_DEPTH} levels deep"


@frozen(kw_only=True)
class BatchItem:
    """One schedule of a batch, before it is admitted by itself."""

    body: bytes  # as that of a POST; not the idempotency key
    key: str = ""  # empty if it has none
    errors: tuple[FieldError, ...] = ()  # what is wrong with its key


@frozen(kw_only=True)
class JsonObject:
    """A JSON object that was read: of each field, what was sent and what it says."""

    sent: Mapping[str, bytes]  # as its client serialised it
    values: Mapping[str, Any]


def fields_of(body: bytes) -> JsonObject:
    """The fields of a JSON object. Each of them is parsed here, and nowhere else. Raises NotJson."""
    if not body.strip():
        raise NotJson("The body must be a JSON object in UTF-8: it is empty")
    try:
        body.decode("utf-8")
        sent = {name: bytes(raw) for name, raw in _FIELDS.decode(body).items()}
        return JsonObject(sent=sent, values={name: read(raw) for name, raw in sent.items()})
    except (UnicodeError, msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise NotJson(f"The body must be a JSON object in UTF-8: {_first_line(error)}") from error


def keyed(bodies: Sequence[bytes]) -> list[BatchItem]:
    """The schedules of a batch, each with the idempotency key that it may have in its field `idempotencyKey`.

    Of several with the same key the first has it; the others are wrong. Their results would depend on who is first.
    """
    items: list[BatchItem] = []
    first: dict[str, int] = {}
    for position, body in enumerate(bodies):
        item = _keyed(body)
        earlier = first.setdefault(item.key, position) if item.key else position
        if earlier != position:
            problem = f"the same key as schedules[{earlier}]"
            error = FieldError(field=KEY, problem=problem, allowed="a key of its own for each schedule")
            item = BatchItem(body=item.body, errors=(error,))
        items.append(item)
    return items


def _keyed(body: bytes) -> BatchItem:
    """Leaves to `admit` a value that is no object. All other fields keep their bytes."""
    try:
        fields = _FIELDS.decode(body)
    except (UnicodeError, msgspec.MsgspecError, RecursionError):
        return BatchItem(body=body)
    raw = fields.pop(KEY, None)
    if raw is None:
        return BatchItem(body=body)
    rest = msgspec.json.encode(fields)
    try:
        return BatchItem(body=rest, key=msgspec.json.decode(raw, type=_Key))
    except (UnicodeError, msgspec.MsgspecError, RecursionError):
        wrong = FieldError(field=KEY, problem="not an idempotency key", allowed=f"text of 1 to {MAX_KEY} characters")
        return BatchItem(body=rest, errors=(wrong,))


def check_depth(body: bytes, fields: JsonObject) -> None:
    """Raises NotJson if a field is nested too deeply. A body with few brackets, as most are, is not gone through."""
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and any(map(_is_too_deep, fields.values.values())):
        raise NotJson(f"The body must be a JSON object in UTF-8: {TOO_DEEP}")


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = list(chain.from_iterable(inner))
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)


def _first_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    return str(error).split("\n", 1)[0]


def admit_no_body(body: bytes) -> None:
    """`{}` is none, too: many clients send it with each POST. Raises Invalid."""
    if not body.strip():
        return
    names = _names(body)
    if names is None:
        raise Invalid([FieldError(field="", problem="the call has no body", allowed=ALLOWED)])
    if names:
        raise Invalid(FieldError(field=one[:MAX_SHOWN], problem="unknown field", allowed=ALLOWED) for one in names)


def _names(body: bytes) -> list[str] | None:
    """Of its fields, if it is an object."""
    if len(body) > MAX_BYTES:
        return None
    try:
        return [*islice(fields_of(body).sent, MAX_ERRORS)]
    except NotJson:
        return None
