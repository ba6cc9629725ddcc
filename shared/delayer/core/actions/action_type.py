"""What the class of an action says about it (ADR 0088).

The class is the only source. This is its form on the way to the API, the relay and the documentation: JSON, with a
version, since a function of another stack may have been built with another version of Delayer.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec
from attrs import frozen

from delayer.core.addresses.spelling import HOST
from delayer.core.schedule.malformed import Malformed, UnknownVersion

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
    """What is wrong with the text; empty if nothing is."""
    sort, _, field = reaches.partition(":")
    if not reaches:
        return ""
    if sort not in REACHES or not field:
        return f"it is a sort and a field, such as host:url; the sorts are {', '.join(REACHES)}"
    known = ", ".join(one for one in fields if one != "type") or "none"
    return "" if field in fields else f"there is no field {field!r}. The fields as the API has them: {known}"
