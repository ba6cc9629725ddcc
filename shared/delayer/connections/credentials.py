"""The header that a connection sets (ADR 0105), and the token in it (ADR 0106), for whoever makes attempts, or a test.

The row is read for each attempt, so that a connection that was deleted or replaced is so at once. Its values lie in a
secret that is never changed by Delayer: they are kept for minutes.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary

from attrs import define, evolve, field, frozen

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Refused, Retry
from delayer.connections.model import Connection, ConnectionType, token_url_of, wrong_host
from delayer.connections.ports import AsksForTokens, Connections, Seal, TokenRows
from delayer.connections.rules import (
    Failed,
    Fetch,
    Header,
    NotItsOwn,
    NoToken,
    Token,
    TokenRow,
    UseToken,
    Values,
    Wanted,
    bearer,
    decide_token,
    header_of,
    held_in,
    token_in,
    values_in,
    with_token,
    without_token,
)
from delayer.engines.ports import Clock, Observer, Secrets, Unavailable
from delayer.flow.rules.block import BlockKind, Party, host_in, target_named
from delayer.flow.use_cases.view import BlocksInView
from delayer.http.problem import FieldError, Invalid
from delayer.owners.known import Reach
from delayer.owners.model import HTTP_REQUEST
from delayer.owners.quota import Spending
from delayer.schedule.instants import MINUTE, SECOND, Millis

TOKEN_ROUNDS: Final = 100
LOOKED_AGAIN: Final[Millis] = 200  # while somebody else fetches it
WAITED: Final[Millis] = 5 * SECOND  # at most: what takes longer comes again
LONGEST: Final = 10.0  # seconds of a fetch
ENOUGH: Final = 9.5  # seconds; a fetch that its attempt cuts off before says nothing about the endpoint
SPENT: Final = 0.05  # seconds of an attempt that are as good as none
KEPT_FOR: Final[Millis] = 5 * MINUTE
KEPT: Final = 500  # values in one environment
APART: Final[Millis] = 10 * SECOND  # between two reads of one value that a 401 has brought about
SETTLED: Final[Millis] = MINUTE  # a secret that was made so long ago can be read everywhere
ROUNDS: Final = 3


@frozen(kw_only=True)
class PermitTest:
    """For the call that tries one."""

    connections: Connections
    reach: Reach
    spend: Spending
    view: BlocksInView

    def __call__(self, owner: str, name: str, url: str) -> bool:
        """Whether there is such a connection.

        Raises NotAllowed, NotAttempted, OverQuota; Invalid if it is not for this host; Unavailable if AWS failed.
        """
        self.reach.permit(owner, url, "url")
        row = self.connections.read(owner, name)
        if row is None:
            return False
        if host := wrong_host(row, url):
            problem = f"the connection {name} is not for this host: {host}"
            raise Invalid(
                [FieldError(field="url", problem=problem, allowed=f"a host that it names: {', '.join(row.hosts)}")]
            )
        token_url = token_url_of(row)
        if token_url:  # the whole of it is asked about once more when a token is wanted
            self.reach.permit(owner, token_url, "tokenUrl")
        for one in filter(None, (url, token_url)):
            self._ask_for_suspensions(owner, one)
        self.spend(owner)
        return True

    def _ask_for_suspensions(self, owner: str, url: str) -> None:
        """As for a schedule: what an operator has suspended is not reached. Circuits and limits are not asked."""
        party = Party(owner=owner, target=target_named(HTTP_REQUEST, host_in(url)))
        for block in self.view():
            if block.kind is BlockKind.SUSPENSION and block.party.covers(party):
                raise NotAttempted(f"an operator has suspended {block.party.target or 'its owner'}: {block.reason}")


Left = Callable[[], float]  # seconds of the attempt


def _about(row: TokenRow) -> str:
    """With what a token is sealed: it opens for no other connection, nor for other values of this one."""
    return f"{row.owner}\n{row.name}\n{row.secret}"


@frozen(kw_only=True)
class AccessTokens:
    """For whoever makes attempts."""

    clock: Clock
    token_rows: TokenRows
    seal: Seal
    ask: AsksForTokens
    reach: Reach
    observer: Observer

    def __call__(self, wanted: Wanted, values: Values, left: Left) -> Header | Refused | Retry:
        """Raises NotAttempted if somebody else is fetching it, and Unavailable.

        The owner policy may have become stricter since the PUT. A token from a place that is forbidden by now is not
        used any more, though it is there.
        """
        if forbidden := self.reach.forbidden(wanted.owner, values.fields["tokenUrl"], "tokenUrl"):
            return Refused(f"the token URL of the connection {wanted.name}: {forbidden.reason}", reached=False)
        began = self.clock.now()
        for _ in range(TOKEN_ROUNDS):
            found = self._once(wanted, values, left, began)
            if not isinstance(found, Wanted):
                return found
            wanted = found
        raise NotAttempted("others fetch its token all the time")

    def _once(self, wanted: Wanted, values: Values, left: Left, began: Millis) -> Header | Retry | Wanted:
        """Looks at the row once. It returns the result, or the token that is wanted after it if the row has to be
        looked at again.
        """
        row = self.token_rows.read(wanted.owner, wanted.name)
        match decide_token(row, wanted, self.clock.now(), is_short=left() < ENOUGH):
            case UseToken(found):
                return self._opened(found, wanted) or evolve(wanted, rejected=found.sealed)
            case Fetch(over=held) if header := self._in_hand(held, wanted, left):
                return header
            case Fetch(claim=claim, over=over):
                return self._fetched(claim, values, left) if self.token_rows.write(claim, over) else wanted
            case Failed(reason=reason, until=until):
                return self._failed(wanted, reason, until)
        self._wait(began, left)
        return wanted

    def _opened(self, row: TokenRow, wanted: Wanted) -> Header | None:
        """None: it was sealed with another key, and another token is to be fetched. Raises NotAttempted: not yet."""
        text = self.seal.opened(row.sealed, _about(row))
        if text is None and row.sealed == wanted.rejected:
            raise NotAttempted("its token cannot be opened with the key of the stack")
        return None if text is None else bearer(text, row.sealed)

    def _failed(self, wanted: Wanted, reason: str, until: Millis) -> Retry:
        seconds = -(-(until - self.clock.now()) // SECOND)
        return Retry(detail=_no_token(wanted.name, reason), after_seconds=max(seconds, 1), reached=False)

    def _in_hand(self, row: TokenRow | None, wanted: Wanted, left: Left) -> Header | None:
        """The token that is to be renewed, for who has little time: somebody else renews it, as long as it is valid."""
        held = held_in(row, wanted, self.clock.now()) if row and left() < ENOUGH else None
        return self._opened(held, wanted) if held and held.sealed != wanted.rejected else None

    def _wait(self, began: Millis, left: Left) -> None:
        now = self.clock.now()
        if now - began >= WAITED or left() < 1:
            raise NotAttempted("its token is being fetched")
        self.clock.sleep_until(now + LOOKED_AGAIN)

    def _fetched(self, claim: TokenRow, values: Values, left: Left) -> Header | Retry:
        """The row is written whatever comes of it, so that others do not wait in vain.

        But for a fetch that was cut off by a short attempt: it is that attempt's failure, and nobody else's.
        """
        seconds = min(left(), LONGEST)
        try:
            token = token_in(*self.ask(values, seconds))
        except NoToken as error:
            if seconds >= ENOUGH or left() > SPENT:
                self._noted(without_token(claim, str(error)), claim)
            self.observer.warn("no token", connection=claim.name, reason=str(error))
            return Retry(detail=_no_token(claim.name, str(error)), reached=False)
        self.observer.note("token fetched", connection=claim.name, seconds=token.seconds)
        return bearer(token.text, self._sealed(token, claim))

    def _sealed(self, token: Token, claim: TokenRow) -> str:
        """As it lies in its row; empty if it could not be sealed. This attempt uses it in any case: it was paid for."""
        try:
            sealed = self.seal.sealed(token.text, _about(claim))
        except Unavailable as error:
            self.observer.warn("token not kept", connection=claim.name, error=str(error))
            return ""
        self._noted(with_token(claim, token, sealed), claim)
        return sealed

    def _noted(self, row: TokenRow, claim: TokenRow) -> None:
        """If it is not, others wait for the minute, as they do for a fetcher that died."""
        try:
            self.token_rows.write(row, claim)
        except Unavailable as error:
            self.observer.warn("token not kept", connection=claim.name, error=str(error))


def _no_token(name: str, reason: str) -> str:
    return f"no token for the connection {name}: {reason}"


Given = Header | Refused | Retry


@frozen(kw_only=True)
class _Kept:
    values: Values
    read_at: Millis
    renewed_at: Millis | None = None  # None: it was not read because of a 401


@define(kw_only=True)
class Credentials:
    """Has the credentials that one execution environment knows."""

    clock: Clock
    connections: Connections
    secrets: Secrets
    tokens: AccessTokens
    _kept: OrderedDict[tuple[str, str], _Kept] = field(factory=OrderedDict, init=False, repr=False)
    _lock: Lock = field(factory=Lock, init=False)
    _renewing: WeakValueDictionary[tuple[str, str], Lock] = field(factory=WeakValueDictionary, init=False, repr=False)

    def of(self, owner: str, name: str, url: str, left: Left) -> Given:
        """Returns the credentials for a request to a URL, or the reason why the attempt is not made. Raises
        NotAttempted if AWS failed.
        """
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
