"""Keys and secrets by which requests are signed (ADR 0104): how one signs, how long, and how one follows another."""

import base64
import hmac
from collections.abc import Iterable
from typing import Final

from attrs import evolve, field, frozen

from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis, format_instant

KEY_BYTES: Final = 32
CURRENT_AFTER: Final[Millis] = 10 * MINUTE  # nobody is shown a secret of a new key before all who sign have read it
KEY_OVERLAP: Final[Millis] = 7 * DAY  # how long the key before signs, too: each owner has to fetch a secret meanwhile
SHORTEST_KEY_OVERLAP: Final[Millis] = HOUR
LONGEST_KEY_OVERLAP: Final[Millis] = 30 * DAY
MOST_KEYS_BEFORE: Final = 2  # keys that still sign beside the newest: each makes a signature longer
FRESH: Final[Millis] = MINUTE  # who signs reads a row again after this long
USABLE: Final[Millis] = 5 * MINUTE  # if it cannot be read, it goes on with what it has for this long
NEXT_AFTER: Final[Millis] = 10 * MINUTE
OVERLAP: Final[Millis] = DAY
SHORTEST_OVERLAP: Final[Millis] = 10 * MINUTE
LONGEST_OVERLAP: Final[Millis] = 30 * DAY
MOST_BEFORE: Final = 3  # versions that still sign beside the current one: each makes a signature longer
PREFIX: Final = "whsec_"  # of a secret as a text, by the Standard Webhooks scheme
PURPOSE: Final = b"delayer/signing-secret/1"  # the form of what follows; another use or form has another text


def signed_headers(secrets: Iterable[bytes], message_id: str, at: Millis, body: bytes) -> dict[str, str]:
    """Of one attempt. Each secret makes a signature; a receiver takes the request if one of them is right."""
    timestamp = str(at // SECOND)
    content = f"{message_id}.{timestamp}.".encode() + body
    return {
        "Webhook-Id": message_id,
        "Webhook-Timestamp": timestamp,
        "Webhook-Signature": " ".join(_signature(secret, content) for secret in secrets),
    }


def _signature(secret: bytes, content: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(secret, content, "sha256")).decode()


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
        """Returns the keys that sign, the current one first. One that is still to become current signs already."""
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
    """The earlier end. What was promised is never made later: a repeat of a rotation takes nothing away."""
    return limit if until is None else min(until, limit)


def first_keys(secret: bytes, now: Millis) -> SigningKeys:
    """Makes the keys of a new stack: nobody holds a secret of another key, so the first is current at once."""
    return SigningKeys(keys=(SigningKey(version=1, secret=secret, created_at=now, current_from=now),))


def rotated_keys(known: SigningKeys, secret: bytes, now: Millis, overlap: Millis = KEY_OVERLAP) -> SigningKeys:
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
    if len(signing) > MOST_KEYS_BEFORE:
        again_at = min(key.signs_until for key in signing if key.signs_until is not None)
        reason = f"{len(signing)} keys still sign; the first of them until {format_instant(again_at)}"
        raise NotRotated(reason, again_at)
    until = fresh.current_from + overlap
    before = [evolve(key, signs_until=sooner(key.signs_until, until)) for key in signing]
    return SigningKeys(keys=(*before, fresh))


@frozen(kw_only=True)
class Superseded:
    """A version that was current before."""

    version: int
    signs_until: Millis


@frozen(kw_only=True)
class Rotation:
    """An owner's row says how it has rotated; without a row, it never has."""

    version: int = 1  # the current one
    rotated_at: Millis = 0  # 0: never
    before: tuple[Superseded, ...] = ()  # oldest first

    def signing(self, now: Millis) -> tuple[int, ...]:
        """The versions that sign: the current one, those before it, and the one that comes next."""
        before = [one.version for one in reversed(self.before) if still_signs(one.signs_until, now)]
        return (self.version, *before, self.version + 1)

    @property
    def last(self) -> Superseded | None:
        """The version that was current before this one."""
        return self.before[-1] if self.before else None


def rotated(known: Rotation, now: Millis, overlap: Millis = OVERLAP) -> Rotation:
    """With the next version as the current one; those before sign for the overlap at most. Raises NotRotated.

    Each keeps the end that it has if that is sooner. So nothing that was promised comes later, and an owner whose
    secret was stolen ends all older ones soon with a short overlap.
    """
    if known.rotated_at and now < (again_at := known.rotated_at + NEXT_AFTER):
        at = format_instant(known.rotated_at)
        raise NotRotated(f"it was rotated at {at}, and GET shows the secrets", again_at)
    until = now + overlap
    before = [one for one in known.before if still_signs(one.signs_until, now)]
    kept = [evolve(one, signs_until=sooner(one.signs_until, until)) for one in before]
    # Those that are over by the next rotation do not count: a short overlap ends all of them, however many there are.
    lasting = [one for one in before if sooner(one.signs_until, until) > now + NEXT_AFTER]
    if len(lasting) >= MOST_BEFORE:
        again_at = min(one.signs_until for one in lasting) - NEXT_AFTER
        count = f"{len(lasting)} secrets from before still sign"
        raise NotRotated(f"{count}; try again at {format_instant(again_at)}, or with a shorter overlap", again_at)
    ended = Superseded(version=known.version, signs_until=until)
    return Rotation(version=known.version + 1, rotated_at=now, before=(*kept, ended))


@frozen(kw_only=True)
class ShownSecrets:
    """An owner sees these secrets of its own."""

    current: str = field(repr=False)
    previous: str | None = field(repr=False)  # None: no other that was shown still signs
    previous_until: Millis | None
    rotated_at: Millis | None  # by the owner; None: never


def secret_of(key: bytes, owner: str, version: int) -> bytes:
    """32 bytes. The owner's length stands before it, so that no two owners and versions have the same text."""
    name = owner.encode("utf-8", "surrogatepass")
    return hmac.digest(key, PURPOSE + len(name).to_bytes(4, "big") + name + version.to_bytes(8, "big"), "sha256")


def as_text(secret: bytes) -> str:
    """As a receiver takes it."""
    return PREFIX + base64.b64encode(secret).decode()


def signing_secrets(keys: SigningKeys, rotation: Rotation, owner: str, now: Millis) -> tuple[bytes, ...]:
    """All that sign for an owner now, the current one first."""
    versions = rotation.signing(now)
    return tuple(secret_of(key.secret, owner, version) for key in keys.signing(now) for version in versions)


def shown(keys: SigningKeys, rotation: Rotation, owner: str, now: Millis) -> ShownSecrets | None:
    """None if there is no key yet."""
    key = keys.current(now)
    if key is None:
        return None
    previous = _previous(keys, key, rotation)
    if previous and not still_signs(previous.until, now):
        previous = None
    return ShownSecrets(
        current=as_text(secret_of(key.secret, owner, rotation.version)),
        previous=as_text(secret_of(previous.key.secret, owner, previous.version)) if previous else None,
        previous_until=previous.until if previous else None,
        rotated_at=rotation.rotated_at or None,
    )


@frozen(kw_only=True)
class _Previous:
    key: SigningKey
    version: int
    until: Millis | None


def _previous(keys: SigningKeys, key: SigningKey, rotation: Rotation) -> _Previous | None:
    """The secret that was shown before the later of the two: this key became current, or the owner rotated."""
    before, last = keys.before(key), rotation.last
    if before and (last is None or key.current_from > rotation.rotated_at):
        return _Previous(key=before, version=rotation.version, until=before.signs_until)
    return _Previous(key=key, version=last.version, until=last.signs_until) if last else None
