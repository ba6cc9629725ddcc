"""The header that a connection sets, for whoever makes attempts (ADR 0105).

The row is read for each attempt, so that a connection that was deleted or replaced is so at once. Its values lie in a
secret that is never changed by Delayer: they are kept for minutes.
"""

from collections import OrderedDict
from threading import Lock
from typing import Final, Protocol

from attrs import define, field, frozen

from delayer.core.connections.connection import Connection, ConnectionType
from delayer.core.connections.credentials import Header, NotItsOwn, Values, header_of, values_in
from delayer.core.connections.tokens import Wanted
from delayer.core.firing.executing import Refused, Retry
from delayer.core.schedule.instants import MINUTE, SECOND, Millis
from delayer.ports.clock import Clock
from delayer.ports.connections import ReadsConnections
from delayer.ports.secrets import ReadsSecrets
from delayer.ports.target import NotAttempted
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.connections.tokens import Left, Tokens

KEPT_FOR: Final[Millis] = 5 * MINUTE
KEPT: Final = 500  # values in one environment
READ_AGAIN: Final[Millis] = 30 * SECOND  # after a 401, a value that is older than this
SETTLED: Final[Millis] = MINUTE  # a secret that was made so long ago can be read everywhere
ROUNDS: Final = 3

Given = Header | Refused | Retry


class ConnectionsOfCredentials(ReadsConnections, Protocol):
    """What it needs of the connections."""


@frozen(kw_only=True)
class _Kept:
    values: Values
    read_at: Millis


@define(kw_only=True)
class Credentials:
    """Those of one execution environment."""

    clock: Clock
    connections: ConnectionsOfCredentials
    secrets: ReadsSecrets
    tokens: Tokens
    _kept: OrderedDict[tuple[str, str], _Kept] = field(factory=OrderedDict, init=False, repr=False)
    _lock: Lock = field(factory=Lock, init=False)

    def of(self, owner: str, name: str, left: Left) -> Given:
        """What a request is to take along, or what becomes of the attempt. Raises NotAttempted if AWS failed."""
        return self._given(owner, name, left, KEPT_FOR, "")

    def again(self, owner: str, name: str, rejected: Header, left: Left) -> Header | None:
        """After a 401: what it is now, if that is something else. None if it is the same, or cannot be known now."""
        try:
            given = self._given(owner, name, left, READ_AGAIN, rejected.sealed)
        except NotAttempted:
            return None
        is_other = isinstance(given, Header) and (given.name, given.value) != (rejected.name, rejected.value)
        return given if is_other and isinstance(given, Header) else None

    def _given(self, owner: str, name: str, left: Left, not_older: Millis, rejected: str) -> Given:
        try:
            found = self._found(owner, name, not_older)
            if isinstance(found, Refused | Retry):
                return found
            row, values = found
            if row.type is not ConnectionType.OAUTH2:
                return header_of(values)
            return self.tokens(Wanted(owner=owner, name=name, secret=row.secret, rejected=rejected), values, left)
        except Unavailable as error:
            raise NotAttempted(f"the connection {name}: {error}") from None

    def _found(self, owner: str, name: str, not_older: Millis) -> tuple[Connection, Values] | Refused | Retry:
        """A row whose secret is not there any more was changed since it was read."""
        before: Connection | None = None
        for _ in range(ROUNDS):
            row = self.connections.read(owner, name)
            if row is None:
                return Refused(f"the connection {name} was deleted", reached=False)
            try:
                values = self._values(row, not_older)
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

    def _values(self, row: Connection, not_older: Millis) -> Values | None:
        """None: there is no such secret. Raises NotItsOwn, Unavailable."""
        key, now = (row.owner, row.secret), self.clock.now()
        with self._lock:
            kept = self._kept.get(key)
        if kept and now - kept.read_at < not_older:
            return kept.values
        text = self.secrets.read(row.owner, row.secret)
        if text is None:
            return None
        values = values_in(text, row.owner, row.name)
        if values.type is not row.type:
            raise NotItsOwn
        self._keep(key, _Kept(values=values, read_at=now))
        return values

    def _keep(self, key: tuple[str, str], kept: _Kept) -> None:
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
