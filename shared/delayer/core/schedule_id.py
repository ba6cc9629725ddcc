"""The id of a schedule is its address, and cannot be forged (ADR 0008, ADR 0009).

Layout, 27 bytes: version (1), due ms (6), shard (2), randomness (10), code (8). The code is a truncated
HMAC-SHA256 over what precedes it and the owner. Written as 44 characters of lower-case base32hex, so
that ids sort by due time.
"""

import base64
import binascii
import hashlib
import hmac
from typing import Final

from delayer.core.bucket import Address
from delayer.core.instants import Millis

VERSION: Final = 1
RANDOM_BYTES: Final = 10
KEY_BYTES: Final = 32
LENGTH: Final = 44
FAR: Final[Millis] = 2**48  # an id holds six bytes of milliseconds: none is due at this instant or later

_PLAIN = 1 + 6 + 2 + RANDOM_BYTES
_CODE = 8


def mint(address: Address, owner: str, *, key: bytes, randomness: bytes) -> str:
    """A new id. `randomness` is RANDOM_BYTES from a secure source; `key` is the stack's secret."""
    plain = bytes([VERSION]) + address.due.to_bytes(6, "big") + address.shard.to_bytes(2, "big") + randomness
    return _encode(plain + _code(plain, owner, key))


def is_genuine(schedule_id: str, owner: str, *, key: bytes) -> bool:
    """Whether this stack issued the id to this owner: told without a read."""
    try:
        whole = _decode(schedule_id)
    except ValueError:
        return False
    return hmac.compare_digest(whole[_PLAIN:], _code(whole[:_PLAIN], owner, key))


def address_of(schedule_id: str) -> Address:
    """The address an id holds. Raises ValueError if it is no id; says nothing on who issued it."""
    whole = _decode(schedule_id)
    return Address(due=int.from_bytes(whole[1:7], "big"), shard=int.from_bytes(whole[7:9], "big"))


def _code(plain: bytes, owner: str, key: bytes) -> bytes:
    return hmac.new(key, plain + owner.encode(), hashlib.sha256).digest()[:_CODE]


def _encode(whole: bytes) -> str:
    return base64.b32hexencode(whole).decode().rstrip("=").lower()


def _decode(schedule_id: str) -> bytes:
    if len(schedule_id) != LENGTH or schedule_id != schedule_id.lower():
        raise ValueError("not a schedule id")
    try:
        whole = base64.b32hexdecode(schedule_id.upper() + "=" * (-LENGTH % 8))
    except (binascii.Error, ValueError) as error:
        raise ValueError("not a schedule id") from error
    if whole[0] != VERSION or _encode(whole) != schedule_id:
        raise ValueError("not a schedule id of a known version")
    return whole
