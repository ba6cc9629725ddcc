"""A connection: a secret of an owner under a name. Its row says what may be shown; its values lie elsewhere (ADR 0105).

Each change of the row is a compare-and-set on its revision. A value is never changed: who replaces it makes another
secret, and the row names that one.
"""

from enum import StrEnum
from typing import Final

import msgspec
from attrs import evolve, field, frozen
from attrs.validators import ge

from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import MINUTE, Millis

MOST: Final = 100  # connections of one owner: each costs the stack's operator money every month
SWEPT_AFTER: Final[Millis] = (
    10 * MINUTE
)  # no call of the API takes so long: a secret that no row names by then is left over
HTTP_REQUEST: Final = "http-request"  # the only action that names connections
AUTHORIZATION: Final = "Authorization"


class ConnectionType(StrEnum):
    """How a target wants to be asked."""

    API_KEY = "api-key"
    BASIC = "basic"
    BEARER = "bearer"
    OAUTH2 = "oauth2-client-credentials"


@frozen(kw_only=True)
class Connection:
    """What is stored of one beside its values."""

    owner: str
    name: str
    type: ConnectionType
    secret: str  # the fresh part of the name of its secret
    header: str  # which it sets: no action may give it by hand
    shown: str = "{}"  # the other fields that are no secrets, as JSON
    revision: int = field(default=1, validator=ge(1))
    created_at: Millis = 0
    changed_at: Millis = 0  # its values
    closing: bool = False  # a DELETE looks whether it is in use: nothing new may name it
    hosts: tuple[str, ...] = ()  # patterns of those that it is for; none: for any, as all were of earlier versions


@frozen(kw_only=True)
class SecretNote:
    """A secret that is about to be named by a row, or is named no more. What was noted long ago is deleted.

    Only a note that is not doomed becomes the secret of a row: whoever deletes a secret dooms its note first.
    """

    owner: str
    secret: str
    since: Millis
    doomed: bool = False


@frozen(kw_only=True)
class Use:
    """A schedule or a series that names a connection."""

    schedule_id: str = ""
    series: str = ""
    until: Millis = 0  # of a series that is over: when none of its attempts is made any more; 0: it goes on


@frozen(kw_only=True)
class SeriesUse:
    """What a transaction of a series says of a connection."""

    connection: str
    until: Millis = 0  # as in Use
    is_checked: bool = False  # whether the connection must be there and open: the series names it from now on


def token_url_of(row: Connection) -> str:
    """Where its tokens come from, as it may be shown: without what only that endpoint sees. Empty if it needs none."""
    return str(msgspec.json.decode(row.shown, type=dict[str, str]).get("tokenUrl", ""))


class _Named(msgspec.Struct):
    type: str
    connection: str = ""


_ACTION: Final = msgspec.json.Decoder(_Named)


def named_in(definition: Definition) -> str:
    """The connection that an action names; empty if it names none. Raises nothing: what is no action names none."""
    try:
        action = _ACTION.decode(definition.action)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""
    return action.connection if action.type == HTTP_REQUEST else ""


def replaced(over: Connection, new: Connection) -> Connection:
    """The row of a PUT, over the one that stands: it is as old as that, and no DELETE closes it any more."""
    return evolve(new, revision=over.revision + 1, created_at=over.created_at)


def closed(row: Connection, *, closing: bool = True) -> Connection:
    """The row that nothing new may name, or may name again."""
    return evolve(row, closing=closing, revision=row.revision + 1)


def doomed(row: Connection, now: Millis) -> SecretNote:
    """The note of the secret that a row names no more."""
    return SecretNote(owner=row.owner, secret=row.secret, since=now, doomed=True)
