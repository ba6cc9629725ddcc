"""Action types, and what an attempt of one comes to."""

from collections.abc import Collection, Mapping
from typing import Any, Final, Generic, TypeVar

import msgspec
from attrs import field, frozen

from delayer.actions.rules.addresses import HOST
from delayer.actions.rules.message_group import group_number, target_of
from delayer.ledger.model import detail_of
from delayer.masking.mask import secrets_in
from delayer.schedule.instants import Malformed, Millis, UnknownVersion, format_instant
from delayer.schedule.schedule import Definition, Traits

VERSION: Final = 1
LARGEST_PAYLOAD: Final = 262_144  # bytes, as UTF-8: no schedule is larger
REACHES: Final[Mapping[str, str]] = {  # the rule of an owner policy that speaks of this sort of target
    "host": "hosts",
    "queue": "queues",
    "topic": "topics",
    "function": "functions",
    "stateMachine": "stateMachines",
    "eventBus": "eventBuses",
}
LONGEST_ATTEMPT: Final = 30.0  # seconds


@frozen
class Done:
    """The target accepted it. `detail` says so to clients and operators, in our words and not in its own (ADR 0065)."""

    detail: str = field(converter=detail_of)
    answer: str = field(default="", kw_only=True)  # what is kept of the target's answer (ADR 0109)


@frozen(kw_only=True)
class Retry:
    """The target may accept it later. `after_seconds` is the delay that it asked for, if it did.

    `is_outage`: the target did not answer, or said that it is broken. Several in a row open its circuit (ADR 0111).
    `reached`: whether the target was asked at all. If not, this says nothing about it.
    """

    detail: str = field(converter=detail_of)
    after_seconds: int | None = None
    answer: str = ""
    is_outage: bool = False
    reached: bool = True


@frozen
class Refused:
    """The target will never accept it; or it may not be asked, and `reached` is False."""

    detail: str = field(converter=detail_of)
    answer: str = field(default="", kw_only=True)
    reached: bool = field(default=True, kw_only=True)


Result = Done | Retry | Refused


@frozen(kw_only=True)
class ActionType:
    """One type of action: what the API accepts, and what the queues are fair by."""

    type: str
    schema: str  # JSON Schema of the action, as JSON text
    fair_by: str = ""  # the field that names its target; with `host:` before it, only the host of a URL counts
    payload: str = ""  # JSON Schema of the payload, as JSON text; empty: any payload, or none
    largest_payload: int = LARGEST_PAYLOAD  # bytes, as UTF-8
    internal: bool = False  # clients can neither see nor schedule it
    reaches: str = ""  # the sort of its target and the field that names it, as in `host:url`; empty: it does not say


def encode(action: ActionType) -> str:
    """As JSON, with its version. What was added within it is left out if it is empty."""
    values = {name: value for name, value in msgspec.to_builtins(action).items() if name != "reaches" or value}
    return msgspec.json.encode({"v": VERSION, **values}).decode()


def decode(text: str | bytes) -> ActionType:
    """The inverse of encode. Raises Malformed, or UnknownVersion for one of a newer Delayer."""
    try:
        values = msgspec.json.decode(text, type=dict[str, Any])
        if values.get("v") != VERSION:
            raise UnknownVersion(f"an action type of version {values.get('v')!r}; this code reads version {VERSION}")
        return msgspec.convert(values, ActionType)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Malformed(f"not an action type: {error}") from error


def reached_by(action: ActionType) -> tuple[str, str] | None:
    """The rule and the field; None if the action does not say what it reaches.

    One that is fair by the host in a field reaches that host, also if it was registered before it could say so.
    """
    sort, _, field = _said(action).partition(":")
    return (REACHES[sort], field) if sort in REACHES and field else None


def _said(action: ActionType) -> str:
    return action.reaches or (action.fair_by if action.fair_by.startswith(HOST) else "")


def problem_in(reaches: str, fields: Collection[str]) -> str:
    """Says why the text is wrong; empty if it is right."""
    sort, _, field = reaches.partition(":")
    if not reaches:
        return ""
    if sort not in REACHES or not field:
        return f"it is a sort and a field, such as host:url; the sorts are {', '.join(REACHES)}"
    known = ", ".join(one for one in fields if one != "type") or "none"
    return "" if field in fields else f"there is no field {field!r}. The fields as the API has them: {known}"


def traits_of(action: ActionType, definition: Definition) -> Traits:
    """For a new schedule of this type."""
    target = target_of(definition.action, action.fair_by) if action.fair_by else ""
    return Traits(fair_group=group_number(target), secrets=secrets_in(action.schema))


Fields = TypeVar("Fields")


@frozen(kw_only=True)
class Message(Generic[Fields]):
    """One attempt that is to be made."""

    action: Fields  # what the client asked for
    payload: str  # JSON, byte for byte as the client sent it; empty if there is none
    schedule_id: str  # the same at each attempt: it is the idempotency key
    owner: str  # whose schedule it is
    point_in_time: Millis  # when it was due, in milliseconds since 1970, UTC
    attempt: int  # 1 for the first
    seconds_left: float = LONGEST_ATTEMPT  # the attempt must end within them
    has_next: bool = False  # whether the schedule's policy allows another attempt after this one

    @property
    def due(self) -> str:
        """Its point in time as a text, such as 2026-11-21T09:00:00.250Z."""
        return format_instant(self.point_in_time)
