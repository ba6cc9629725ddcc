"""The id of a schedule is its address, and cannot be forged (ADR 0008, ADR 0009).

Layout, 29 bytes: version (1), due ms (6), shard (2), overdue ms (4), randomness (8), code (8). *Due* is that of the
address; *overdue* is how long ago the point in time was when the schedule was accepted, nearly always 0. The code is
a truncated HMAC-SHA256 over what precedes it and the owner. Written as 47 characters of lower-case base32hex, so
that ids sort by due time.
"""

import base64
import binascii
import hashlib
import hmac
from typing import Final

from delayer.core.schedule.bucket import Address, RecordKey
from delayer.core.schedule.instants import Millis

VERSION: Final = 1
RANDOM_BYTES: Final = 8
KEY_BYTES: Final = 32
LENGTH: Final = 47
FAR: Final[Millis] = 2**48  # an id holds six bytes of milliseconds: none is due at this instant or later
MAX_OVERDUE: Final[Millis] = 2**32 - 1  # 49 days: a longer time is shortened to it

_PLAIN = 1 + 6 + 2 + 4 + RANDOM_BYTES
_CODE = 8


def mint(address: Address, owner: str, *, point_in_time: Millis, key: bytes, randomness: bytes) -> str:
    """A new id. `randomness` is RANDOM_BYTES from a secure source; `key` is the stack's secret."""
    overdue = min(max(address.due - point_in_time, 0), MAX_OVERDUE)
    numbers = address.due.to_bytes(6, "big") + address.shard.to_bytes(2, "big") + overdue.to_bytes(4, "big")
    plain = bytes([VERSION]) + numbers + randomness
    return _encode(plain + _code(plain, owner, key))


def is_genuine(schedule_id: str, owner: str, *, key: bytes) -> bool:
    """Whether this stack issued the id to this owner. It needs no read."""
    try:
        whole = _decode(schedule_id)
    except ValueError:
        return False
    return hmac.compare_digest(whole[_PLAIN:], _code(whole[:_PLAIN], owner, key))


def address_of(schedule_id: str) -> Address:
    """The address in an id. Raises ValueError if it is not an id. It does not tell who issued the id."""
    whole = _decode(schedule_id)
    return Address(due=int.from_bytes(whole[1:7], "big"), shard=int.from_bytes(whole[7:9], "big"))


def key_of(schedule_id: str) -> RecordKey:
    """Where its record is stored. Raises ValueError if it is not an id."""
    address = address_of(schedule_id)
    return RecordKey(bucket=address.bucket.key, due=address.sort_key(schedule_id))


def point_in_time_of(schedule_id: str) -> Millis:
    """The point in time that its client asked for, even if it had passed. Raises ValueError if it is not an id."""
    whole = _decode(schedule_id)
    return int.from_bytes(whole[1:7], "big") - int.from_bytes(whole[9:13], "big")


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
