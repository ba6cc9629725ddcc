"""What an owner does with the secret that signs the requests of its schedules: shows and rotates it (ADR 0104)."""

from typing import Protocol

from attrs import frozen

from delayer.core.schedule.instants import Millis
from delayer.core.signing import rotation
from delayer.core.signing.keys import NotRotated, SigningKeys
from delayer.core.signing.secrets import ShownSecrets, shown
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.signing import ReadsRotations, ReadsSigningKeys, WritesRotations
from delayer.ports.unavailable import Unavailable


class RowsOfOwnSecrets(ReadsSigningKeys, ReadsRotations, WritesRotations, Protocol):
    """What it needs of the control rows."""


@frozen(kw_only=True)
class OwnSecrets:
    """Nothing is remembered between two calls: what is shown as current is the newest there is."""

    clock: Clock
    rows: RowsOfOwnSecrets
    observer: Observer

    def show(self, owner: str) -> ShownSecrets:
        """Raises Unavailable, also if the stack has no key yet."""
        keys = self.rows.signing_keys()
        return self._shown(keys, self.rows.rotation(owner), owner)

    def rotate(self, owner: str, overlap: Millis) -> ShownSecrets:
        """As they are afterwards. Raises NotRotated, Unavailable.

        Of two at a time one wins, and the other one is refused as a repeat is.
        """
        keys, known = self.rows.signing_keys(), self.rows.rotation(owner)
        now = self.clock.now()
        following = rotation.rotated(known, now, overlap)
        secrets = self._shown(keys, following, owner)
        if not self.rows.write_rotation(owner, following, known):
            reason = "it was rotated by another call just now, and GET shows the secrets"
            raise NotRotated(reason, now + rotation.NEXT_AFTER)
        self.observer.note("signing secret rotated", version=following.version, overlapMs=overlap)
        return secrets

    def _shown(self, keys: SigningKeys, known: rotation.Rotation, owner: str) -> ShownSecrets:
        secrets = shown(keys, known, owner, self.clock.now())
        if secrets is None:
            raise Unavailable("there is no signing key yet; operator-id-key makes it within a minute")
        return secrets
