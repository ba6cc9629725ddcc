"""Whom a block is about: an owner and one of its targets (ADR 0110)."""

import hashlib
import re
from typing import Final

import msgspec
from attrs import frozen

from delayer.core.addresses.spelling import HOST, the_same, usual_resource
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.schedule import Schedule

EVERY: Final = ""  # every owner, or every target
LONGEST_SHOWN: Final = 200  # characters of a target in rows and answers

_AUTHORITY: Final = re.compile(r"(https?)://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:]*)(?::([0-9]+))?", re.IGNORECASE)
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}


@frozen(kw_only=True)
class Party:
    """An owner and a target. Either may be EVERY."""

    owner: str
    target: str  # a type of action, and the host or the resource: `http-request api.example.com`

    @property
    def key(self) -> str:
        """32 characters that are the same for the same party, and for no other."""
        text = f"{len(self.owner)}#{self.owner}#{self.target}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def covers(self, other: "Party") -> bool:
        """Whether what is said about this party is said about the other, too."""
        return self.owner in (EVERY, other.owner) and self.target in (EVERY, other.target)


def party_of(schedule: Schedule, fair_by: str) -> Party:
    """Of a schedule. `fair_by` is as in ActionType: what names the target of its action."""
    return party_in(schedule.owner, schedule.definition, fair_by)


def party_in(owner: str, definition: Definition, fair_by: str) -> Party:
    """The same, of what will be a schedule of this owner."""
    return Party(owner=owner, target=target_named(definition.action_type, target_in(definition.action, fair_by)))


def target_named(kind: str, resource: str) -> str:
    """As it is written in rows: the type of the action, and what names the target in it, if anything does."""
    return f"{kind} {resource}".rstrip()


def target_in(action: str, fair_by: str) -> str:
    """What names the target in an action in JSON; of a URL the host, and its port if that is not the usual one.

    A queue, a function and a state machine are one target, however they are spelled.

    Empty if nothing names it: then all schedules of this type have one target.
    """
    if not fair_by:
        return ""
    try:
        value = msgspec.json.decode(action, type=dict[str, object]).get(fair_by.removeprefix(HOST), "")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""
    if not isinstance(value, str):
        return ""
    return (host_in(value) if fair_by.startswith(HOST) else usual_resource(value))[:LONGEST_SHOWN]


def host_in(url: str) -> str:
    """`api.example.com` or `api.example.com:8443`, in lower case and ASCII; empty if it is no URL.

    An address is the same target however it is spelled.
    """
    found = _AUTHORITY.match(url)
    if not found:
        return ""
    scheme, host, port = found[1].lower(), found[2].lower().rstrip("."), _port(found[3])
    try:
        host = host if host.isascii() else host.encode("idna").decode()
    except ValueError:
        return ""
    host = the_same(host)
    return host if port in ("", _DEFAULT_PORTS[scheme]) else f"{host}:{port}"


def _port(digits: str | None) -> str:
    """`0443` is `443`."""
    return (digits.lstrip("0") or "0") if digits else ""
