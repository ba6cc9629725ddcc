"""The keys of the stack: the secret of each owner is derived from one of them (ADR 0104)."""

from typing import Final

from attrs import evolve, field, frozen

from delayer.core.schedule.instants import DAY, HOUR, MINUTE, Millis, format_instant

KEY_BYTES: Final = 32
CURRENT_AFTER: Final[Millis] = 10 * MINUTE  # nobody is shown a secret of a new key before all who sign have read it
OVERLAP: Final[Millis] = 7 * DAY  # how long the key before signs, too: each owner has to fetch a secret meanwhile
SHORTEST_OVERLAP: Final[Millis] = HOUR
LONGEST_OVERLAP: Final[Millis] = 30 * DAY
MOST_BEFORE: Final = 2  # keys that still sign beside the newest: each makes a signature longer


@frozen(kw_only=True)
class SigningKey:
    """One of them."""

    version: int  # from 1 on
    secret: bytes = field(repr=False)  # KEY_BYTES; no log shows them
    created_at: Millis
    current_from: Millis  # from this instant on, what is shown to owners is derived from it
    signs_until: Millis | None = None  # None: no other was made after it


@frozen(kw_only=True)
class SigningKeys:
    """All that may still sign, oldest first; empty before the first was made."""

    keys: tuple[SigningKey, ...] = ()

    def current(self, now: Millis) -> SigningKey | None:
        """The one whose secrets are shown; by a clock that is behind, the oldest."""
        return next((key for key in reversed(self.keys) if key.current_from <= now), next(iter(self.keys), None))

    def before(self, key: SigningKey) -> SigningKey | None:
        """The one that was current before it, if that is still known."""
        return next((one for one in reversed(self.keys) if one.version < key.version), None)

    def signing(self, now: Millis) -> tuple[SigningKey, ...]:
        """Those that sign, the current one first. One that is still to become current signs already."""
        first = self.current(now)
        return tuple(
            sorted((key for key in self.keys if still_signs(key.signs_until, now)), key=lambda key: key is not first)
        )

    @property
    def newest(self) -> int:
        """Its version; 0 if there is none."""
        return self.keys[-1].version if self.keys else 0


class NotRotated(ValueError):
    """The text says why; `again_at` is the first instant at which it may be done."""

    def __init__(self, reason: str, again_at: Millis = 0) -> None:
        self.again_at = again_at
        super().__init__(reason)


def still_signs(until: Millis | None, now: Millis) -> bool:
    """Whether what signs up to this instant does so now."""
    return until is None or now < until


def sooner(until: Millis | None, limit: Millis) -> Millis:
    """The earlier end. What was promised is never put off: a repeat of a rotation takes nothing away."""
    return limit if until is None else min(until, limit)


def first_keys(secret: bytes, now: Millis) -> SigningKeys:
    """Those of a new stack: nobody holds a secret of another key, so it is current at once."""
    return SigningKeys(keys=(SigningKey(version=1, secret=secret, created_at=now, current_from=now),))


def rotated(known: SigningKeys, secret: bytes, now: Millis, overlap: Millis = OVERLAP) -> SigningKeys:
    """With a new key, which is current in CURRENT_AFTER; those before sign for the overlap from then on.

    Raises NotRotated until the newest one is current, so that a repeat after a lost answer makes no second one.
    """
    if not known.keys:
        raise NotRotated("there is no signing key yet")
    last = known.keys[-1]
    if last.current_from > now:
        at = format_instant(last.current_from)
        raise NotRotated(f"key {last.version} was made just now, and is current at {at}", last.current_from)
    fresh = SigningKey(version=last.version + 1, secret=secret, created_at=now, current_from=now + CURRENT_AFTER)
    signing = [key for key in known.keys if still_signs(key.signs_until, now)]
    if len(signing) > MOST_BEFORE:
        again_at = min(key.signs_until for key in signing if key.signs_until is not None)
        reason = f"{len(signing)} keys still sign; the first of them until {format_instant(again_at)}"
        raise NotRotated(reason, again_at)
    until = fresh.current_from + overlap
    before = [evolve(key, signs_until=sooner(key.signs_until, until)) for key in signing]
    return SigningKeys(keys=(*before, fresh))
