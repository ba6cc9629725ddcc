"""A connection: a secret of an owner under a name. Its row says what may be shown; its values lie elsewhere (ADR 0105).

Each change of the row is a compare-and-set on its revision. A value is never changed: who replaces it makes another
secret, and the row names that one.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec
from attrs import evolve, field, frozen
from attrs.validators import ge

from delayer.ledger.model import LedgerRow
from delayer.owners.model import HTTP_REQUEST, HostPattern, pattern_of, site_of
from delayer.schedule.instants import MINUTE, STALE_AFTER, Millis
from delayer.schedule.schedule import Definition
from delayer.schedule.schedule_id import address_of, is_undecided

MOST: Final = 100  # connections of one owner: each costs the stack's operator money every month
SWEPT_AFTER: Final[Millis] = (
    10 * MINUTE
)  # no call of the API takes so long: a secret that no row names by then is left over
AUTHORIZATION: Final = "Authorization"


class ConnectionType(StrEnum):
    """How a target wants to be asked."""

    API_KEY = "api-key"
    BASIC = "basic"
    BEARER = "bearer"
    OAUTH2 = "oauth2-client-credentials"


@frozen(kw_only=True)
class Connection:
    """The row of a connection has all but its values, which lie in Secrets Manager."""

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
    """A transaction of a series writes this about a connection that the series names."""

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


def wrong_host(row: Connection, url: str) -> str:
    """The host of the URL if the connection is not for it; empty if it is. An unreadable pattern allows none."""
    if not row.hosts:
        return ""
    site = site_of(url)
    if site is not None and any(pattern.matches(site) for pattern in _patterns(row.hosts)):
        return ""
    return site.shown if site else "no host that can be told"


@lru_cache(maxsize=512)
def _patterns(hosts: tuple[str, ...]) -> tuple[HostPattern, ...]:
    return tuple(pattern for one in hosts if (pattern := _pattern_or_none(one)))


def _pattern_or_none(text: str) -> HostPattern | None:
    try:
        return pattern_of(text)
    except ValueError:
        return None


@frozen(kw_only=True)
class Live:
    """These schedules and series keep a connection from being deleted."""

    schedules: tuple[str, ...] = ()  # the ids of some
    series: tuple[str, ...] = ()
    held_until: tuple[Millis, ...] = ()  # by each of the series that are over
    is_complete: bool = True  # False: more have named it than are looked at in one call

    @property
    def is_free(self) -> bool:
        """Whether nothing is in the way."""
        return self.is_complete and not self.schedules and not self.series


def is_live(use: Use, row: LedgerRow | None, now: Millis) -> bool:
    """Whether it may still reach a target. `row` is that of a schedule.

    What failed or is a dead letter has ended: if an operator redrives it, it fails with the reason. Raises ValueError
    if it is not an id.
    """
    if use.series:
        return not use.until or now < use.until
    if row is not None:
        return not row.ended
    return is_undecided(use.schedule_id) or now - address_of(use.schedule_id).due <= STALE_AFTER


def live_of(uses: Sequence[Use], rows: Mapping[str, LedgerRow], now: Millis) -> Live:
    """Returns the schedules and series of a page that are live."""
    found = [one for one in uses if is_live(one, rows.get(one.schedule_id), now)]
    return Live(
        schedules=tuple(one.schedule_id for one in found if one.schedule_id),
        series=tuple(one.series for one in found if one.series),
        held_until=tuple(one.until for one in found if one.until),
    )
