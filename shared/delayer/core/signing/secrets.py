"""The secret of an owner, derived from a key of the stack; and what the owner is shown of it."""

import base64
import hmac
from typing import Final

from attrs import field, frozen

from delayer.core.schedule.instants import Millis
from delayer.core.signing.keys import SigningKey, SigningKeys, still_signs
from delayer.core.signing.rotation import Rotation

PREFIX: Final = "whsec_"  # of a secret as a text, by the Standard Webhooks scheme
PURPOSE: Final = b"delayer/signing-secret/1"  # the form of what follows; another use or form has another text


@frozen(kw_only=True)
class ShownSecrets:
    """What an owner sees."""

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
    """What was shown before the later of the two: this key became current, or the owner rotated."""
    before, last = keys.before(key), rotation.last
    if before and (last is None or key.current_from > rotation.rotated_at):
        return _Previous(key=before, version=rotation.version, until=before.signs_until)
    return _Previous(key=key, version=last.version, until=last.signs_until) if last else None
