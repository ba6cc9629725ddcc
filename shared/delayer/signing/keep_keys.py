"""Makes the first signing key of the stack, and rotates it; a part of what operator-id-key does (ADR 0104)."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from delayer.engines.ports import Clock, Observer
from delayer.schedule.instants import SECOND, Millis, format_instant
from delayer.signing.ports import SigningRows
from delayer.signing.rules import (
    KEY_BYTES,
    KEY_OVERLAP,
    LONGEST_KEY_OVERLAP,
    SHORTEST_KEY_OVERLAP,
    NotRotated,
    SigningKeys,
    first_keys,
    rotated_keys,
)


@frozen(kw_only=True)
class KeepSigningKeys:
    """All of it raises Unavailable if AWS failed."""

    clock: Clock
    signing_rows: SigningRows
    randomness: Callable[[int], bytes]  # n secure random bytes
    observer: Observer

    def show(self) -> SigningKeys:
        """Returns the keys that there are."""
        return self.signing_rows.signing_keys()

    def ensure(self) -> SigningKeys:
        """The keys; the first one is made if there is none."""
        known = self.signing_rows.signing_keys()
        return known if known.keys else self._write(first_keys(self.randomness(KEY_BYTES), self.clock.now()), known)

    def rotate(self, seconds: Any = None) -> SigningKeys:
        """A new key, which is current in ten minutes. Raises NotRotated.

        `seconds` is how long those before sign from then on, too.
        """
        overlap = overlap_of(seconds)
        known = self.signing_rows.signing_keys()
        return self._write(rotated_keys(known, self.randomness(KEY_BYTES), self.clock.now(), overlap), known)

    def _write(self, keys: SigningKeys, over: SigningKeys) -> SigningKeys:
        """If another run was faster, its keys stay."""
        if not self.signing_rows.write_signing_keys(keys, over):
            return self.signing_rows.signing_keys()
        self.observer.note("signing key made", version=keys.newest)
        return keys


def overlap_of(seconds: Any) -> Millis:
    """Of a command. Raises NotRotated if it is none."""
    if seconds is None:
        return KEY_OVERLAP
    is_number = isinstance(seconds, int) and not isinstance(seconds, bool)
    if is_number and SHORTEST_KEY_OVERLAP <= seconds * SECOND <= LONGEST_KEY_OVERLAP:
        return int(seconds) * SECOND
    bounds = f"{SHORTEST_KEY_OVERLAP // SECOND} to {LONGEST_KEY_OVERLAP // SECOND}"
    raise NotRotated(f"overlapSeconds is a whole number from {bounds}")


def shown_keys(keys: SigningKeys) -> list[dict[str, Any]]:
    """Without the secrets."""
    return [
        {
            "version": key.version,
            "createdAt": format_instant(key.created_at),
            "currentFrom": format_instant(key.current_from),
            "signsUntil": None if key.signs_until is None else format_instant(key.signs_until),
        }
        for key in keys.keys
    ]
