"""The header that a connection sets, for whoever makes attempts (ADR 0105).

The row is read for each attempt, so that a connection that was deleted or replaced is so at once. Its values lie in a
secret that is never changed by Delayer: they are kept for minutes.
"""

from collections import OrderedDict
from threading import Lock
from typing import Final, Protocol
from weakref import WeakValueDictionary

from attrs import define, field, frozen

from delayer.core.actions.results import Refused, Retry
from delayer.core.connections.connection import Connection, ConnectionType
from delayer.core.connections.credentials import Header, NotItsOwn, Values, header_of, values_in
from delayer.core.connections.hosts import wrong_host
from delayer.core.connections.tokens import Wanted
from delayer.core.schedule.instants import MINUTE, SECOND, Millis
from delayer.ports.clock import Clock
from delayer.ports.connections import ReadsConnections
from delayer.ports.secrets import ReadsSecrets
from delayer.ports.target import NotAttempted
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.connections.tokens import Left, Tokens

KEPT_FOR: Final[Millis] = 5 * MINUTE
KEPT: Final = 500  # values in one environment
APART: Final[Millis] = 10 * SECOND  # between two reads of one value that a 401 has brought about
SETTLED: Final[Millis] = MINUTE  # a secret that was made so long ago can be read everywhere
ROUNDS: Final = 3

Given = Header | Refused | Retry


class ConnectionsOfCredentials(ReadsConnections, Protocol):
    """What it needs of the connections."""


@frozen(kw_only=True)
class _Kept:
    values: Values
    read_at: Millis
    renewed_at: Millis | None = None  # None: it was not read because of a 401


@define(kw_only=True)
class Credentials:
    """Those of one execution environment."""

    clock: Clock
    connections: ConnectionsOfCredentials
    secrets: ReadsSecrets
    tokens: Tokens
    _kept: OrderedDict[tuple[str, str], _Kept] = field(factory=OrderedDict, init=False, repr=False)
    _lock: Lock = field(factory=Lock, init=False)
    _renewing: WeakValueDictionary[tuple[str, str], Lock] = field(factory=WeakValueDictionary, init=False, repr=False)

    def of(self, owner: str, name: str, url: str, left: Left) -> Given:
        """What a request to a URL takes along, or what becomes of the attempt. Raises NotAttempted if AWS failed."""
        return self._given(owner, name, url, left, None)

    def again(self, owner: str, name: str, url: str, rejected: Header, left: Left) -> Header | None:
        """After a 401: what it is now, if that is something else. None if it is the same, or cannot be known now.

        The value is read anew however young it is, but not twice in ten seconds: a target that refuses everything
        must not make Secrets Manager busy. Attempts that fail side by side wait for the one read.
        """
        try:
            given = self._given(owner, name, url, left, rejected)
        except NotAttempted:
            return None
        is_other = isinstance(given, Header) and (given.name, given.value) != (rejected.name, rejected.value)
        return given if is_other and isinstance(given, Header) else None

    def _given(self, owner: str, name: str, url: str, left: Left, rejected: Header | None) -> Given:
        try:
            found = self._found(owner, name, url, left, is_rejected=rejected is not None)
            if isinstance(found, Refused | Retry):
                return found
            row, values = found
            if row.type is not ConnectionType.OAUTH2:
                return header_of(values)
            sealed = rejected.sealed if rejected else ""
            return self.tokens(Wanted(owner=owner, name=name, secret=row.secret, rejected=sealed), values, left)
        except Unavailable as error:
            raise NotAttempted(f"the connection {name}: {error}") from None

    def _found(
        self, owner: str, name: str, url: str, left: Left, *, is_rejected: bool
    ) -> tuple[Connection, Values] | Refused | Retry:
        """A row whose secret is not there any more was changed since it was read.

        The hosts are those of the row whose secret is taken: a value never goes where its own PUT has not sent it.
        """
        before: Connection | None = None
        for _ in range(ROUNDS):
            row = self.connections.read(owner, name)
            if row is None:
                return Refused(f"the connection {name} was deleted", reached=False)
            if host := wrong_host(row, url):
                return Refused(f"the connection {name} is not for this host: {host}", reached=False)
            try:
                values = self._renewed(row, left) if is_rejected else self._values(row)
            except NotItsOwn:
                return Retry(detail=f"the secret of the connection {name} is not its own: PUT it again", reached=False)
            if values:
                return row, values
            if row == before:
                break
            before = row
        return self._missing(before)

    def _missing(self, row: Connection | None) -> Retry:
        """Raises NotAttempted for a secret that was made a moment ago: Secrets Manager is consistent in the end."""
        if row is None or self.clock.now() - row.changed_at < SETTLED:
            raise NotAttempted("the secret of its connection cannot be read yet")
        return Retry(detail=f"the connection {row.name} has no value any more: PUT it again", reached=False)

    def _values(self, row: Connection) -> Values | None:
        """None: there is no such secret. Raises NotItsOwn, Unavailable."""
        kept, now = self._kept_of(row), self.clock.now()
        return kept.values if kept and now - kept.read_at < KEPT_FOR else self._read(row)

    def _renewed(self, row: Connection, left: Left) -> Values | None:
        """The same after a 401. Raises NotAttempted if others took all of the time for the very same value."""
        with self._lock:
            renewing = self._renewing.setdefault((row.owner, row.secret), Lock())
        if not renewing.acquire(timeout=max(left(), 0)):
            raise NotAttempted("the values of its connection are being read")
        try:
            kept, now = self._kept_of(row), self.clock.now()
            if kept and kept.renewed_at is not None and now - kept.renewed_at < APART:
                return kept.values
            return self._read(row, renewed_at=now)
        finally:
            renewing.release()

    def _kept_of(self, row: Connection) -> _Kept | None:
        with self._lock:
            return self._kept.get((row.owner, row.secret))

    def _read(self, row: Connection, renewed_at: Millis | None = None) -> Values | None:
        began = self.clock.now()
        text = self.secrets.read(row.owner, row.secret)
        if text is None:
            return None
        values = values_in(text, row.owner, row.name)
        if values.type is not row.type:
            raise NotItsOwn
        self._keep((row.owner, row.secret), _Kept(values=values, read_at=began, renewed_at=renewed_at))
        return values

    def _keep(self, key: tuple[str, str], kept: _Kept) -> None:
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
