"""The id of a schedule is its address, and cannot be forged (ADR 0008, 0009): ids, buckets, and the keys behind ids.

Layout, 29 bytes: version of the key (1), due ms (6), kind and shard (2), overdue ms (4), randomness (8), code (8). The
kind is in the four upper bits, which are 0 in every id of an earlier version (ADR 0095). *Due* is that of the address;
*overdue* is how long ago the point in time was when the schedule was accepted, nearly always 0. The code is a truncated
HMAC-SHA256, made with that key, over what precedes it and the owner. Written as 47 characters of lower-case base32hex,
so that ids of one key sort by due time. A later layout will have another length.
"""

import base64
import hmac
import re
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import Final, TypeVar

from attrs import evolve, field, frozen
from attrs.validators import ge, le

from delayer.schedule.instants import DAY, MINUTE, Millis, Minute, format_minute, minute_of

MAX_SHARD: Final = 0xFFF  # it has twelve bits in an id
LAST_INSTANT: Final[Millis] = 253_402_300_799_999  # the year 9999 ends; it fits the six bytes it has in the id
FIRST_VERSION: Final = 1
LAST_VERSION: Final = 0xFF
RANDOM_BYTES: Final = 8
KEY_BYTES: Final = 32
LENGTH: Final = 47
FAR: Final[Millis] = 2**48  # an id holds six bytes of milliseconds: none is due at this instant or later
MAX_OVERDUE: Final[Millis] = 2**32 - 1  # 49 days: a longer time is shortened to it
READ_AGAIN: Final[Millis] = 4 * MINUTE  # who issues ids reads the keys again after this long
WRITES_AFTER: Final[Millis] = 10 * MINUTE  # a new key issues no id before all who issue or check ids have read it
READABLE: Final[Millis] = 3690 * DAY  # after its last id: that one may be due in ten years, and is known for 30 days
_SHARD_BITS = 12
_WAITING = "undecided#"
_PLAIN = 1 + 6 + 2 + 4 + RANDOM_BYTES
_CODE = 8
_WRITTEN = re.compile(f"[0-9a-v]{{{LENGTH}}}")
_KEPT = 1_024  # ids whose parts are kept; several batches have fewer
_SPARE_BITS = 5 * LENGTH - 8 * (_PLAIN + _CODE)  # of the last character; they are 0


@frozen(kw_only=True, order=True)
class Bucket:
    """One partition of the schedules table."""

    minute: Minute  # minutes since the epoch
    shard: int = field(validator=[ge(0), le(MAX_SHARD)])  # 0 … highest shard ever used

    @property
    def key(self) -> str:
        """The partition key: `2026-11-21T09:00#3`."""
        return f"{format_minute(self.minute)}#{self.shard}"


@frozen(kw_only=True, order=True)
class Address:
    """Instant and shard of a schedule. The instant is its point in time, or that of its acceptance if it is later."""

    due: Millis = field(validator=[ge(0), le(LAST_INSTANT)])
    shard: int = field(validator=[ge(0), le(MAX_SHARD)])

    @property
    def bucket(self) -> Bucket:
        """The partition in which it is stored."""
        return Bucket(minute=minute_of(self.due), shard=self.shard)

    def sort_key(self, schedule_id: str) -> str:
        """`<13-digit ms>#<id>`: in a bucket, schedules are in due order."""
        return f"{self.due:013d}#{schedule_id}"


@frozen(kw_only=True)
class Shards:
    """The control row that writers raise before they use a shard for the first time (ADR 0010)."""

    highest: int  # the highest shard ever used; it only grows
    since: Minute  # the minute of the first write ever: nothing is older


@frozen(kw_only=True)
class Progress:
    """The control row of the sweep."""

    closed_until: Minute  # the watermark: every minute before this one is closed, for good
    swept_at: Millis = 0  # the last tick that swept
    whole_at: Millis = 0  # the last that swept the whole window to its end


@frozen(kw_only=True)
class RecordKey:
    """Names one record of the schedules table."""

    bucket: str
    due: str


def address_for(point_in_time: Millis, now: Millis, shard: int) -> Address:
    """Never in a minute that is over: a bucket once closed by the watermark stays empty (ADR 0013)."""
    return Address(due=max(point_in_time, now), shard=shard)


Lane = TypeVar("Lane")


class IdKind(IntEnum):
    """An id says what kind of schedule it names: everybody who meets it must know that without a read."""

    PLAIN = 0
    OCCURRENCE = 1  # of a series
    UNDECIDED = 2  # its time is decided after it was accepted
    RELAXED = 3  # in the lane without precision
    RELAXED_OCCURRENCE = 4  # of a series in that lane


@frozen(kw_only=True)
class IdKey:
    """One secret behind ids."""

    version: int  # 1 to 255; the ids that it made begin with it
    secret: bytes = field(repr=False)  # KEY_BYTES; no log shows them
    created_at: Millis
    writes_from: Millis  # from this instant on it makes the new ids


@frozen(kw_only=True)
class IdKeys:
    """All keys of one stack, oldest first; empty before the first was made."""

    keys: tuple[IdKey, ...] = ()

    def at(self, now: Millis) -> IdKey | None:
        """The one that makes new ids; by a clock that is behind, the oldest."""
        return next((key for key in reversed(self.keys) if key.writes_from <= now), next(iter(self.keys), None))

    def of(self, schedule_id: str) -> IdKey | None:
        """The one that may have made this id. Raises ValueError if it is not an id."""
        version = _parts_of(schedule_id).whole[0]
        return next((key for key in self.keys if key.version == version), None)

    @property
    def newest(self) -> int:
        """Its version; 0 if there is none."""
        return self.keys[-1].version if self.keys else 0


class IdKeyNotRotated(ValueError):
    """The text says why."""


def first_keys(secret: bytes, now: Millis) -> IdKeys:
    """Makes the keys of a new stack: no other key has made an id yet, so the first is used at once."""
    return IdKeys(keys=(IdKey(version=FIRST_VERSION, secret=secret, created_at=now, writes_from=now),))


def rotated(current: IdKeys, secret: bytes, now: Millis) -> IdKeys:
    """With a new key, which makes ids in WRITES_AFTER; without those whose last id is over. Raises IdKeyNotRotated.

    Readers come before writers: whoever meets an id of an unknown version has not read for longer than READ_AGAIN, or
    the id is none of ours.
    """
    if not current.keys:
        raise IdKeyNotRotated("there is no key yet")
    last = current.keys[-1]
    if last.writes_from > now:
        raise IdKeyNotRotated(f"key {last.version} was made just now, and is not used yet: try again in ten minutes")
    if last.version == LAST_VERSION:
        raise IdKeyNotRotated("all 255 versions of the id are used up")
    fresh = IdKey(version=last.version + 1, secret=secret, created_at=now, writes_from=now + WRITES_AFTER)
    following = (*current.keys[1:], fresh)
    kept = [key for key, after in zip(current.keys, following, strict=True) if after.writes_from + READABLE > now]
    return evolve(current, keys=(*kept, fresh))


def mint(
    address: Address,
    owner: str,
    *,
    point_in_time: Millis,
    key: bytes,
    randomness: bytes,
    version: int = FIRST_VERSION,
    kind: IdKind = IdKind.PLAIN,
) -> str:
    """A new id. `randomness` is RANDOM_BYTES from a secure source; `key` is the stack's secret of that `version`."""
    overdue = min(max(address.due - point_in_time, 0), MAX_OVERDUE)
    place = kind << _SHARD_BITS | address.shard
    numbers = address.due.to_bytes(6, "big") + place.to_bytes(2, "big") + overdue.to_bytes(4, "big")
    plain = bytes([version]) + numbers + randomness
    return _encode(plain + _code(plain, owner, key))


def is_genuine(schedule_id: str, owner: str, *, key: bytes) -> bool:
    """Whether this key made the id for this owner. It needs no read."""
    try:
        whole = _parts_of(schedule_id).whole
    except ValueError:
        return False
    return hmac.compare_digest(whole[_PLAIN:], _code(whole[:_PLAIN], owner, key))


def address_of(schedule_id: str) -> Address:
    """The address in an id. Raises ValueError if it is not an id. It does not tell who issued the id."""
    return _parts_of(schedule_id).address


def kind_of(schedule_id: str) -> IdKind:
    """Raises ValueError if it is not an id, or one of a kind that only a later version knows."""
    return _parts_of(schedule_id).kind


def word_of_kind(schedule_id: str) -> str:
    """As events and rows have it, such as `relaxed-occurrence`; empty for a plain one, or one that is not known yet."""
    try:
        kind = kind_of(schedule_id)
    except ValueError:
        return ""
    return "" if kind is IdKind.PLAIN else kind.name.lower().replace("_", "-")


def is_relaxed(schedule_id: str) -> bool:
    """Whether it is in the lane without precision (ADR 0097)."""
    return _is_of(schedule_id, IdKind.RELAXED, IdKind.RELAXED_OCCURRENCE)


def is_occurrence(schedule_id: str) -> bool:
    """Whether it is of a series, in whichever lane (ADR 0094)."""
    return _is_of(schedule_id, IdKind.OCCURRENCE, IdKind.RELAXED_OCCURRENCE)


def _is_of(schedule_id: str, *kinds: IdKind) -> bool:
    """A kind that only a later version knows is not known to be one of them."""
    try:
        return _parts_of(schedule_id).kind in kinds
    except ValueError:
        return False


def id_in(key: RecordKey) -> str:
    """The id of the schedule that is stored there."""
    return key.due.partition("#")[2]


def is_undecided(schedule_id: str) -> bool:
    """Whether its time is decided after it was accepted, so that its id is no address in time (ADR 0096)."""
    return _is_of(schedule_id, IdKind.UNDECIDED)


def random_part_of(schedule_id: str) -> bytes:
    """The part that makes it unlike all others. Raises ValueError if it is not an id."""
    return _parts_of(schedule_id).whole[13:_PLAIN]


def undecided_bucket(shard: int) -> str:
    """The partition of what waits for its time: in the order in which it was accepted, so that the oldest are found."""
    return f"{_WAITING}{shard}"


def in_lane(schedule_id: str, *, precise: Lane, relaxed: Lane, waiting: Lane) -> Lane:
    """The lane of a schedule: to each belongs a table of its own. An id that cannot be read is in the precise one."""
    if is_undecided(schedule_id):
        return waiting
    return relaxed if is_relaxed(schedule_id) else precise


def key_of(schedule_id: str) -> RecordKey:
    """Where its record is stored. Raises ValueError if it is not an id."""
    return _parts_of(schedule_id).record_key


def point_in_time_of(schedule_id: str) -> Millis:
    """The point in time that its client asked for, even if it had passed. Raises ValueError if it is not an id."""
    whole = _parts_of(schedule_id).whole
    return int.from_bytes(whole[1:7], "big") - int.from_bytes(whole[9:13], "big")


def _place(whole: bytes) -> int:
    return int.from_bytes(whole[7:9], "big")


def _code(plain: bytes, owner: str, key: bytes) -> bytes:
    return hmac.digest(key, plain + owner.encode(), "sha256")[:_CODE]


def _encode(whole: bytes) -> str:
    return base64.b32hexencode(whole).decode().rstrip("=").lower()


@frozen(kw_only=True)
class _Parts:
    """The facts that an id tells. Each of them is reckoned when it is asked for first."""

    text: str
    whole: bytes

    @cached_property
    def address(self) -> Address:
        return Address(due=int.from_bytes(self.whole[1:7], "big"), shard=_place(self.whole) & MAX_SHARD)

    @cached_property
    def kind(self) -> IdKind:
        return IdKind(_place(self.whole) >> _SHARD_BITS)

    @cached_property
    def record_key(self) -> RecordKey:
        due = self.address.sort_key(self.text)
        if is_undecided(self.text):
            return RecordKey(bucket=undecided_bucket(self.address.shard), due=due)
        return RecordKey(bucket=self.address.bucket.key, due=due)


@lru_cache(maxsize=_KEPT)
def _parts_of(schedule_id: str) -> _Parts:
    """Asked for some fifty times for each schedule, and parsed once (ADR 0179). Raises ValueError if it is not an id.

    As a number to the base 32, which Python reads twenty times as fast.
    """
    if not _WRITTEN.fullmatch(schedule_id):
        raise ValueError("not a schedule id")
    number = int(schedule_id, 32)
    whole = (number >> _SPARE_BITS).to_bytes(_PLAIN + _CODE, "big")
    if whole[0] < FIRST_VERSION or number % 2**_SPARE_BITS:
        raise ValueError("not a schedule id of a known version")
    return _Parts(text=schedule_id, whole=whole)
