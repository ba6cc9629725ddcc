"""The owner policy: what an operator says that an owner may do (ADR 0107). It has nothing to do with when it is due."""

from collections.abc import Mapping
from typing import Final

import msgspec
from attrs import field, frozen

from delayer.core.schedule.instants import YEAR, Millis

Value = tuple[str, ...] | int | None

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


@frozen(kw_only=True)
class OwnerPolicy:
    """The rules of one document, by their names. A rule that is not there is none.

    None in an owner's own policy takes a rule of the default away.
    """

    rules: Mapping[str, Value] = field(factory=dict)

    def over(self, default: "OwnerPolicy") -> "OwnerPolicy":
        """What counts for an owner with this policy: what it does not say, the default says."""
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
