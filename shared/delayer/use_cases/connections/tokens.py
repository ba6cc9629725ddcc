"""The token of a connection: the one that is there, or a new one, fetched at most once a minute (ADR 0106)."""

from collections.abc import Callable
from typing import Final

from attrs import evolve, frozen

from delayer.core.actions.results import Refused, Retry
from delayer.core.connections.credentials import Header, Values, bearer
from delayer.core.connections.tokens import (
    Failed,
    Fetch,
    NoToken,
    Token,
    TokenRow,
    UseToken,
    Wanted,
    decide_token,
    held_in,
    token_in,
    with_token,
    without_token,
)
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.target import NotAttempted
from delayer.ports.tokens import AsksForTokens, Seal, TokenRows
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.owners.reach import Reach

ROUNDS: Final = 100
LOOKED_AGAIN: Final[Millis] = 200  # while somebody else fetches it
WAITED: Final[Millis] = 5 * SECOND  # at most: what takes longer comes again
LONGEST: Final = 10.0  # seconds of a fetch
ENOUGH: Final = 9.5  # seconds; a fetch that its attempt cuts off before says nothing about the endpoint
SPENT: Final = 0.05  # seconds of an attempt that are as good as none

Left = Callable[[], float]  # seconds of the attempt


def _about(row: TokenRow) -> str:
    """With what a token is sealed: it opens for no other connection, nor for other values of this one."""
    return f"{row.owner}\n{row.name}\n{row.secret}"


@frozen(kw_only=True)
class Tokens:
    """For whoever makes attempts."""

    clock: Clock
    rows: TokenRows
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
        for _ in range(ROUNDS):
            found = self._once(wanted, values, left, began)
            if not isinstance(found, Wanted):
                return found
            wanted = found
        raise NotAttempted("others fetch its token all the time")

    def _once(self, wanted: Wanted, values: Values, left: Left, began: Millis) -> Header | Retry | Wanted:
        """What came of one look at the row; or what is wanted after it, if it has to be looked at again."""
        row = self.rows.read(wanted.owner, wanted.name)
        match decide_token(row, wanted, self.clock.now(), is_short=left() < ENOUGH):
            case UseToken(found):
                return self._opened(found, wanted) or evolve(wanted, rejected=found.sealed)
            case Fetch(over=held) if header := self._in_hand(held, wanted, left):
                return header
            case Fetch(claim=claim, over=over):
                return self._fetched(claim, values, left) if self.rows.write(claim, over) else wanted
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
            self.rows.write(row, claim)
        except Unavailable as error:
            self.observer.warn("token not kept", connection=claim.name, error=str(error))


def _no_token(name: str, reason: str) -> str:
    return f"no token for the connection {name}: {reason}"
