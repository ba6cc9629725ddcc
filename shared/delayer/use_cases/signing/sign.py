"""What an executor does before an attempt: the headers by which the target knows who sends it (ADR 0104)."""

from collections.abc import Callable
from threading import Lock
from typing import Any, Final, Generic, Protocol, TypeVar

from attrs import define, field, frozen

from delayer.core.actions.message import Message
from delayer.core.schedule.instants import Millis
from delayer.core.signing.keys import SigningKeys
from delayer.core.signing.rotation import FRESH, USABLE, Rotation
from delayer.core.signing.secrets import signing_secrets
from delayer.core.signing.signature import signed_headers
from delayer.ports.clock import Clock
from delayer.ports.signing import ReadsRotations, ReadsSigningKeys
from delayer.ports.target import NotAttempted
from delayer.ports.unavailable import Unavailable

Row = TypeVar("Row")
MOST_OWNERS: Final = 1_000  # whose rows are known at a time; one takes about half a KB


class RowsOfSign(ReadsSigningKeys, ReadsRotations, Protocol):
    """What it needs of the control rows."""


@frozen(kw_only=True)
class Known(Generic[Row]):
    """A row as it was read."""

    row: Row
    read_at: Millis  # when the read began


@define(kw_only=True)
class Sign:
    """Port Signs. One of these in each execution environment; its attempts run side by side."""

    clock: Clock
    rows: RowsOfSign
    _keys: Known[SigningKeys] | None = field(default=None, init=False)
    _rotations: dict[str, Known[Rotation]] = field(factory=dict, init=False)
    _lock: Any = field(factory=Lock, init=False, repr=False)

    def __call__(self, message: Message[Any]) -> dict[str, str]:
        """The headers of one attempt, which is made now. Raises NotAttempted: nothing goes out unsigned."""
        keys = self._keys = self._current(self._keys, self._read_keys)
        rotation = self._current(self._rotations.get(message.owner), lambda: self.rows.rotation(message.owner))
        self._keep(message.owner, rotation)
        now = self.clock.now()
        secrets = signing_secrets(keys.row, rotation.row, message.owner, now)
        return signed_headers(secrets, message.schedule_id, now, message.payload.encode())

    def _current(self, known: Known[Row] | None, read: Callable[[], Row]) -> Known[Row]:
        """As it is known, or read again when that is a minute old. After a failure it serves for some minutes more."""
        began = self.clock.now()
        if known and 0 <= began - known.read_at < FRESH:
            return known
        try:
            return Known(row=read(), read_at=began)
        except Unavailable as error:
            if known and 0 <= self.clock.now() - known.read_at < USABLE:
                return known
            raise NotAttempted(f"what signs it cannot be read: {error}") from error

    def _read_keys(self) -> SigningKeys:
        keys = self.rows.signing_keys()
        if not keys.keys:
            raise Unavailable("there is no signing key yet; operator-id-key makes it within a minute")
        return keys

    def _keep(self, owner: str, rotation: Known[Rotation]) -> None:
        with self._lock:
            self._rotations.pop(owner, None)
            self._rotations[owner] = rotation
            if len(self._rotations) > MOST_OWNERS:
                del self._rotations[next(iter(self._rotations))]
