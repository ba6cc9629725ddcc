"""The owner policy, which an operator writes (ADR 0107): what it says, and whether an owner may do what it asks for."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, partial
from typing import Any, Final

import msgspec
from attrs import field, frozen

from delayer.actions.rules import addresses
from delayer.actions.rules.addresses import usual
from delayer.actions.rules.model import ActionType, reached_by
from delayer.http.problem import FieldError, Problem
from delayer.schedule.instants import SECOND, YEAR, Millis
from delayer.schedule.schedule import Definition

_NAME: Final = (
    r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*"
)
_HOST: Final = rf"(?P<host>\[[0-9A-Fa-f:.]{{2,45}}\]|{_NAME})(?P<dot>\.)?"
_URL: Final = re.compile(
    rf"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{{0,20}})://{_HOST}(?::(?P<port>[0-9]{{1,5}}))?(?:[/?#](?s:.*))?"
)
_BARE: Final = re.compile(rf"{_HOST}(?::(?P<port>[0-9]{{1,5}}))?")
_PATTERN: Final = re.compile(rf"(?P<below>\*\.)?{_HOST}(?::(?P<port>[0-9]{{1,5}}|\*))?")
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
ANY: Final = -1
LONGEST: Final = 253  # characters of a name
LARGEST_PORT: Final = 65_535
LISTS: Final = ("actions", "hosts", "queues", "topics", "functions", "stateMachines", "eventBuses")  # what is allowed
NUMBERS: Final[Mapping[str, tuple[int, int]]] = {  # the least and the most of each
    "createsPerMinute": (1, 50_000),
    "liveSchedules": (1, 1_000_000_000),
    "series": (0, 1_000_000_000),
    "payloadBytes": (0, 262_144),
    "aheadSeconds": (0, 10 * YEAR // 1000),
}
RULES: Final = (*LISTS, *NUMBERS)
RESERVED: Final = "limits"  # of a target: how many calls at a time, and how many in a second
HTTP_REQUEST: Final = "http-request"  # the only action that names connections
SHOWN: Final = 300  # characters of what is allowed
SHOWN_VALUE: Final = 120  # of what is not


@frozen(kw_only=True)
class Site:
    """A host as an action names it."""

    host: str  # in small letters, without a dot at its end; an IPv6 address in its shortest form
    port: int = 0  # 0: the text has none, and its scheme is not known
    is_default: bool = True  # whether the port is that of its scheme

    @property
    def shown(self) -> str:
        """As a pattern would name it."""
        return self.host if self.is_default else f"{self.host}:{self.port}"


@frozen(kw_only=True)
class HostPattern:
    """One entry of the rule."""

    host: str
    below: bool = False  # all names below it, and not itself
    port: int = 0  # 0: that of the scheme

    def matches(self, site: Site) -> bool:
        """Whether it allows this host."""
        if self.port == 0 and not site.is_default:
            return False
        if self.port not in (0, ANY, site.port):
            return False
        return site.host.endswith(f".{self.host}") if self.below else site.host == self.host


def site_of(text: str) -> Site | None:
    """The host in a URL, or in a text that is nothing but a host and a port; None if there is no telling."""
    found = _URL.fullmatch(text) if "://" in text else _BARE.fullmatch(text)
    host = usual(found["host"]) if found else ""
    if not found or not host:
        return None
    default = _PORTS.get(found["scheme"].lower(), 0) if "scheme" in found.groupdict() else 0
    port = int(found["port"]) if found["port"] else default
    if port > LARGEST_PORT or (found["port"] and not port):
        return None
    return Site(host=host, port=port, is_default=not found["port"] or port == default)


def pattern_of(text: str) -> HostPattern:
    """A pattern from its text. Raises ValueError with what is wrong."""
    found = _PATTERN.fullmatch(text)
    if not found:
        raise ValueError(_why_none(text))
    host = usual(found["host"])
    if not host or len(host) > LONGEST:
        raise ValueError("not the name of a host, nor an address in its usual form")
    if found["below"] and ("." not in host or _is_address(host)):
        raise ValueError("it matches too much: `*.` needs a name with a dot behind it, such as *.example.com")
    port = ANY if found["port"] == "*" else int(found["port"] or 0)
    if port > LARGEST_PORT or (found["port"] and not port):
        raise ValueError("a port is a number from 1 to 65535, or `*` for any")
    return HostPattern(host=host, below=bool(found["below"]), port=port)


def _why_none(text: str) -> str:
    if not text.isascii():
        return "write a name that is not ASCII as it is in DNS, beginning with xn--"
    if "://" in text or "/" in text or "@" in text:
        return "only a host and a port, without scheme, path and user name"
    if "*" in text:
        return "`*` stands at the beginning only, as in *.example.com, or for the port; alone it matches too much"
    return "not the name of a host"


def _is_address(host: str) -> bool:
    return host.startswith("[") or host.rpartition(".")[2].isdecimal()


Value = tuple[str, ...] | int | None


@frozen(kw_only=True)
class OwnerPolicy:
    """The rules of one document, by their names. A rule that is not there is none.

    None in an owner's own policy takes a rule of the default away.
    """

    rules: Mapping[str, Value] = field(factory=dict)

    def over(self, default: "OwnerPolicy") -> "OwnerPolicy":
        """The policy that counts for an owner: where it says nothing, the default counts."""
        both = {**default.rules, **self.rules}
        return OwnerPolicy(rules={name: value for name, value in both.items() if value is not None})

    def allowed(self, rule: str) -> tuple[str, ...] | None:
        """A list; None if there is no such rule."""
        value = self.rules.get(rule)
        return value if isinstance(value, tuple) else None

    def at_most(self, rule: str) -> int | None:
        """A number; None if there is no such rule."""
        value = self.rules.get(rule)
        return value if isinstance(value, int) else None


NO_POLICY: Final = OwnerPolicy()


@frozen(kw_only=True)
class StoredOwnerPolicy:
    """A policy as it is kept, for one owner or as the default for all."""

    policy: OwnerPolicy | None  # None: there is no default, but an owner has a policy of its own
    revision: int = 0  # of each change another, larger one; a change names the one that it is made of
    changed_at: Millis = 0
    by: str = ""  # who changed it last
    has_owners: bool = False  # the default's alone: whether an owner may have one of its own


def to_text(policy: OwnerPolicy) -> str:
    """As JSON."""
    return msgspec.json.encode(dict(policy.rules)).decode()


def from_text(text: str) -> OwnerPolicy:
    """The inverse of to_text. What only a newer Delayer knows is left out. Raises ValueError."""
    rules: dict[str, Value] = {}
    for name, value in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items():
        if name in LISTS:
            found = msgspec.json.decode(value, type=list[str] | None)
            rules[name] = None if found is None else tuple(found)
        elif name in NUMBERS:
            rules[name] = msgspec.json.decode(value, type=int | None)
    return OwnerPolicy(rules=rules)


@frozen(kw_only=True)
class AccessRequest:
    """The request that a policy decides about."""

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


def asked_by(definition: Definition, action: ActionType | None, ahead: Millis = 0) -> AccessRequest:
    """The request of a definition. `action` is its type as it is registered, or as its executor has it."""
    kind, reaches = definition.action_type, reached_by(action) if action else None
    rule, field = reaches or ("", "")
    return AccessRequest(
        kind=kind,
        rule=rule,
        field=f"action.{field}",
        target=_text_in(definition.action, field) if field else "",
        payload_bytes=len(definition.payload.encode("utf-8", "surrogatepass")),
        ahead=ahead,
    )


def asked_by_url(url: str, field: str) -> AccessRequest:
    """The request of a URL that is reached as a target is, and stands in no action: it counts as an `http-request`."""
    return AccessRequest(kind=HTTP_REQUEST, rule="hosts", field=field, kind_field=field, target=url)


def _text_in(action: str, field: str) -> str:
    value: Any = msgspec.json.decode(action, type=dict[str, Any]).get(field, "")
    return value if isinstance(value, str) else ""


def decide(policy: OwnerPolicy, asked: AccessRequest) -> Allowed | Forbidden:
    """The first rule that is against it."""
    for check in (_by_type, _by_target, _by_size, _by_time):
        if found := check(policy, asked):
            return found
    return Allowed()


def _by_type(policy: OwnerPolicy, asked: AccessRequest) -> Forbidden | None:
    allowed = policy.allowed("actions")
    if allowed is None or asked.kind in allowed:
        return None
    return _not_in("actions", asked.kind, asked.kind_field, allowed)


def _by_target(policy: OwnerPolicy, asked: AccessRequest) -> Forbidden | None:
    """An action that says which of its fields names its target must name one that can be told."""
    allowed = policy.allowed(asked.rule) if asked.rule else None
    if allowed is None:
        return None
    if asked.rule == "hosts":
        site = site_of(asked.target)
        fits = site is not None and any(one.matches(site) for one in _patterns("hosts", allowed))
        return (
            None if fits else _not_in("hosts", site.shown if site else "no host that can be told", asked.field, allowed)
        )
    resource = addresses.resource_of(asked.rule, asked.target)
    fits = resource is not None and any(one.matches(resource) for one in _patterns(asked.rule, allowed))
    return None if fits else _not_in(asked.rule, asked.target or "none is named", asked.field, allowed)


@lru_cache(maxsize=512)
def _patterns(rule: str, allowed: tuple[str, ...]) -> tuple[Any, ...]:
    """One that cannot be read, as no command would have written it, allows nothing."""
    read: Callable[[str], Any] = pattern_of if rule == "hosts" else partial(addresses.pattern_of, rule)
    return tuple(pattern for one in allowed if (pattern := _read_or_none(read, one)))


def _read_or_none(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        return None


def _by_size(policy: OwnerPolicy, asked: AccessRequest) -> Forbidden | None:
    at_most = policy.at_most("payloadBytes")
    if at_most is None or asked.payload_bytes <= at_most:
        return None
    text = f"a payload of {asked.payload_bytes:,} bytes"
    return Forbidden(rule="payloadBytes", text=text, field="payload", allowed=f"at most {at_most:,} bytes")


def _by_time(policy: OwnerPolicy, asked: AccessRequest) -> Forbidden | None:
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
