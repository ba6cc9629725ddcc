"""Signs an attempt with headers by which the target knows its sender, and answers calls on the secrets (ADR 0104)."""

from collections.abc import Callable
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from attrs import define, field, frozen

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Message
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.schedule.instants import Millis
from delayer.signing.ports import SigningRows
from delayer.signing.rules import (
    FRESH,
    NEXT_AFTER,
    USABLE,
    NotRotated,
    Rotation,
    ShownSecrets,
    SigningKeys,
    rotated,
    shown,
    signed_headers,
    signing_secrets,
)

MOST_OWNERS: Final = 1_000  # whose rows are known at a time; one takes about half a KB


@frozen(kw_only=True)
class OwnSecrets:
    """Nothing is remembered between two calls: what is shown as current is the newest there is."""

    clock: Clock
    signing_rows: SigningRows
    observer: Observer

    def show(self, owner: str) -> ShownSecrets:
        """Raises Unavailable, also if the stack has no key yet."""
        keys = self.signing_rows.signing_keys()
        return self._shown(keys, self.signing_rows.rotation(owner), owner)

    def rotate(self, owner: str, overlap: Millis) -> ShownSecrets:
        """As they are afterwards. Raises NotRotated, Unavailable.

        Of two at a time one wins, and the other one is refused as a repeat is.
        """
        keys, known = self.signing_rows.signing_keys(), self.signing_rows.rotation(owner)
        now = self.clock.now()
        following = rotated(known, now, overlap)
        secrets = self._shown(keys, following, owner)
        if not self.signing_rows.write_rotation(owner, following, known):
            reason = "it was rotated by another call just now, and GET shows the secrets"
            raise NotRotated(reason, now + NEXT_AFTER)
        self.observer.note("signing secret rotated", version=following.version, overlapMs=overlap)
        return secrets

    def _shown(self, keys: SigningKeys, known: Rotation, owner: str) -> ShownSecrets:
        secrets = shown(keys, known, owner, self.clock.now())
        if secrets is None:
            raise Unavailable("there is no signing key yet; operator-id-key makes it within a minute")
        return secrets


Row = TypeVar("Row")


@frozen(kw_only=True)
class CachedRow(Generic[Row]):
    """A row as it was read."""

    row: Row
    read_at: Millis  # when the read began


@define(kw_only=True)
class Sign:
    """Signs attempts. One of these in each execution environment; its attempts run side by side."""

    clock: Clock
    signing_rows: SigningRows
    _keys: CachedRow[SigningKeys] | None = field(default=None, init=False)
    _rotations: dict[str, CachedRow[Rotation]] = field(factory=dict, init=False)
    _lock: Any = field(factory=Lock, init=False, repr=False)

    def __call__(self, message: Message[Any]) -> dict[str, str]:
        """The headers of one attempt, which is made now. Raises NotAttempted: nothing goes out unsigned."""
        keys = self._keys = self._current(self._keys, self._read_keys)
        rotation = self._current(self._rotations.get(message.owner), lambda: self.signing_rows.rotation(message.owner))
        self._keep(message.owner, rotation)
        now = self.clock.now()
        secrets = signing_secrets(keys.row, rotation.row, message.owner, now)
        return signed_headers(secrets, message.schedule_id, now, message.payload.encode())

    def _current(self, known: CachedRow[Row] | None, read: Callable[[], Row]) -> CachedRow[Row]:
        """As it is known, or read again when that is a minute old. After a failure it serves for some minutes more."""
        began = self.clock.now()
        if known and 0 <= began - known.read_at < FRESH:
            return known
        try:
            return CachedRow(row=read(), read_at=began)
        except Unavailable as error:
            if known and 0 <= self.clock.now() - known.read_at < USABLE:
                return known
            raise NotAttempted(f"what signs it cannot be read: {error}") from error

    def _read_keys(self) -> SigningKeys:
        keys = self.signing_rows.signing_keys()
        if not keys.keys:
            raise Unavailable("there is no signing key yet; operator-id-key makes it within a minute")
        return keys

    def _keep(self, owner: str, rotation: CachedRow[Rotation]) -> None:
        with self._lock:
            self._rotations.pop(owner, None)
            self._rotations[owner] = rotation
            if len(self._rotations) > MOST_OWNERS:
                del self._rotations[next(iter(self._rotations))]
