"""Whether an owner may do what it asks for: at creation, and again before each attempt (ADR 0107)."""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, partial
from typing import Any, Final

import msgspec
from attrs import frozen

from delayer.core.actions.action_type import ActionType, reached_by
from delayer.core.addresses import resources
from delayer.core.api.problem import FieldError, Problem
from delayer.core.owners import hosts
from delayer.core.owners.owner_policy import OwnerPolicy
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import SECOND, Millis

HTTP_REQUEST: Final = "http-request"
SHOWN: Final = 300  # characters of what is allowed
SHOWN_VALUE: Final = 120  # of what is not


@frozen(kw_only=True)
class Asked:
    """What is decided about."""

    kind: str  # the type of the action
    rule: str = ""  # which rule speaks of its target; empty: the action does not say what it reaches
    field: str = ""  # in which its target stands: of an action, or of another call
    kind_field: str = "action.type"  # which says the type
    target: str = ""
    payload_bytes: int = 0
    ahead: Millis = 0  # how far ahead it is due; 0 if that is no matter


@frozen
class Allowed:
    """No rule is against it."""


@frozen(kw_only=True)
class Forbidden:
    """A rule is against it."""

    rule: str
    text: str  # what was asked for, and is not allowed
    field: str  # where it stands in a request
    allowed: str = ""

    @property
    def reason(self) -> str:
        """For whoever sees how the schedule ended."""
        return f"the owner policy forbids it, by its rule {self.rule}: {self.text}"


class NotAllowed(Problem):
    """The owner may not do what it asks for: a rule of its owner policy is against it."""

    status = 403
    kind = "forbidden-by-policy"
    title = "The owner policy forbids it"

    def __init__(self, forbidden: Forbidden) -> None:
        who = "The operators of this stack do not allow it"
        super().__init__(f"{who}, by the rule {forbidden.rule} of the owner policy: {forbidden.text}.")
        self.forbidden = forbidden

    @property
    def members(self) -> Mapping[str, object]:
        """The rule, and the field that it is about."""
        found = self.forbidden
        wrong = FieldError(field=found.field, problem=f"not allowed: {found.text}", allowed=found.allowed)
        return {"rule": found.rule, "errors": [wrong.shown()]}


def asked_by(definition: Definition, action: ActionType | None, ahead: Millis = 0) -> Asked:
    """What a definition asks for. `action` is its type as it is registered, or as its executor has it."""
    kind, reaches = definition.action_type, reached_by(action) if action else None
    rule, field = reaches or ("", "")
    return Asked(
        kind=kind,
        rule=rule,
        field=f"action.{field}",
        target=_text_in(definition.action, field) if field else "",
        payload_bytes=len(definition.payload.encode("utf-8", "surrogatepass")),
        ahead=ahead,
    )


def asked_by_url(url: str, field: str) -> Asked:
    """What a URL asks for that is reached as a target is, and stands in no action: it counts as an `http-request`."""
    return Asked(kind=HTTP_REQUEST, rule="hosts", field=field, kind_field=field, target=url)


def _text_in(action: str, field: str) -> str:
    value: Any = msgspec.json.decode(action, type=dict[str, Any]).get(field, "")
    return value if isinstance(value, str) else ""


def decide(policy: OwnerPolicy, asked: Asked) -> Allowed | Forbidden:
    """The first rule that is against it."""
    for check in (_by_type, _by_target, _by_size, _by_time):
        if found := check(policy, asked):
            return found
    return Allowed()


def _by_type(policy: OwnerPolicy, asked: Asked) -> Forbidden | None:
    allowed = policy.allowed("actions")
    if allowed is None or asked.kind in allowed:
        return None
    return _not_in("actions", asked.kind, asked.kind_field, allowed)


def _by_target(policy: OwnerPolicy, asked: Asked) -> Forbidden | None:
    """An action that says which of its fields names its target must name one that can be told."""
    allowed = policy.allowed(asked.rule) if asked.rule else None
    if allowed is None:
        return None
    if asked.rule == "hosts":
        site = hosts.site_of(asked.target)
        fits = site is not None and any(one.matches(site) for one in _patterns("hosts", allowed))
        return (
            None if fits else _not_in("hosts", site.shown if site else "no host that can be told", asked.field, allowed)
        )
    resource = resources.resource_of(asked.rule, asked.target)
    fits = resource is not None and any(one.matches(resource) for one in _patterns(asked.rule, allowed))
    return None if fits else _not_in(asked.rule, asked.target or "none is named", asked.field, allowed)


@lru_cache(maxsize=512)
def _patterns(rule: str, allowed: tuple[str, ...]) -> tuple[Any, ...]:
    """One that cannot be read, as no command would have written it, allows nothing."""
    read: Callable[[str], Any] = hosts.pattern_of if rule == "hosts" else partial(resources.pattern_of, rule)
    return tuple(pattern for one in allowed if (pattern := _read_or_none(read, one)))


def _read_or_none(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        return None


def _by_size(policy: OwnerPolicy, asked: Asked) -> Forbidden | None:
    at_most = policy.at_most("payloadBytes")
    if at_most is None or asked.payload_bytes <= at_most:
        return None
    text = f"a payload of {asked.payload_bytes:,} bytes"
    return Forbidden(rule="payloadBytes", text=text, field="payload", allowed=f"at most {at_most:,} bytes")


def _by_time(policy: OwnerPolicy, asked: Asked) -> Forbidden | None:
    at_most = policy.at_most("aheadSeconds")
    if at_most is None or asked.ahead <= at_most * SECOND:
        return None
    text = f"due in {-(-asked.ahead // SECOND):,} seconds"
    return Forbidden(rule="aheadSeconds", text=text, field="pointInTime", allowed=f"at most {at_most:,} seconds ahead")


def _not_in(rule: str, value: str, field: str, allowed: Collection[str]) -> Forbidden:
    text = ", ".join(allowed) or "none"
    text = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    value = value if len(value) <= SHOWN_VALUE else f"{value[:SHOWN_VALUE]}..."
    return Forbidden(rule=rule, text=value, field=field, allowed=text)
