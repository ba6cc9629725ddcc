"""The result for a schedule, or for one target of a rule: a request to Delayer, or a reason why there is none."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

Kind = Literal["schedule", "series"]


class Options(Struct, frozen=True, kw_only=True):
    """The choices of the caller."""

    now: datetime  # with a zone
    cutover: datetime | None = None  # EventBridge fires before it, Delayer from it on; a whole minute
    roles: Mapping[str, str] = {}  # by account, the role to assume for targets in it
    prefix: str = ""  # of the names in Delayer


class Note(Struct, frozen=True):
    """Something that is different afterwards, or that somebody must do."""

    field: str  # EventBridge's name of what it is about
    text: str


class Source(Struct, frozen=True, kw_only=True):
    """Where it comes from."""

    service: Literal["scheduler", "rule"]
    name: str
    within: str  # the group, or the event bus
    expression: str
    arn: str = ""
    target_id: str = ""  # of a rule's target
    region: str = ""
    start: datetime | None = None  # before which it does not fire

    @property
    def title(self) -> str:
        """As a person would look for it: `default/nightly`, or `default/nightly#1` for the target of a rule."""
        return f"{self.within}/{self.name}" + (f"#{self.target_id}" if self.target_id else "")


class Request(Struct, frozen=True, kw_only=True):
    """A schedule or a rule that can be moved: the body of a PUT by name."""

    source: Source
    kind: Kind
    name: str
    body: bytes  # JSON. The payload is in it as EventBridge has it, byte for byte
    tag: str  # the value of the tag by which it is known again
    now: datetime  # of the Options
    notes: tuple[Note, ...] = ()


class Earlier(Struct, frozen=True, kw_only=True):
    """An object that an earlier import may have made. EventBridge goes on because of the cut-over, so nothing
    may be left of it.
    """

    kind: Kind
    name: str
    tag: str
    until: datetime  # the last instant at which EventBridge fires it


class Left(Struct, frozen=True, kw_only=True):
    """A schedule or a rule that cannot be moved, and why."""

    source: Source
    field: str  # EventBridge's name of what stands against it
    reason: str  # continues "cannot be moved, because …"
    earlier: Earlier | None = None  # where an import with an earlier cut-over may have moved it to


Translated = Request | Left


class CannotMove(Exception):
    """Ends a mapping with the reason."""

    def __init__(self, field: str, reason: str, *, until: datetime | None = None) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
        self.until = until  # until when EventBridge fires it before the cut-over


class Aimed(Struct, frozen=True, kw_only=True):
    """An action of Delayer's, and its payload as a text of JSON."""

    action: Mapping[str, Any]
    payload: str
    notes: tuple[Note, ...] = ()
