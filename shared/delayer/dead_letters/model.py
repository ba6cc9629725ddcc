"""The objects that are stored whole: dead letters (ADR 0021), and records that wait to be brought back (ADR 0082)."""

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec
from attrs import asdict, frozen

from delayer.ledger.model import Arrival, LedgerRow, State
from delayer.schedule.instants import HOUR, Malformed, Millis
from delayer.schedule.schedule import Schedule

VERSION: Final = 1
MALFORMED: Final = "malformed"  # in the key, in place of the id of a schedule that cannot be read
WAITING_VERSION: Final = 1
WAITING: Final = "waiting/"  # what the stream-enqueuer set aside
DISCARDED: Final = "aws/lambda/"  # what Lambda itself gave up on, with keys of its own
BROUGHT_BACK: Final = (WAITING, DISCARDED)
WHY_DISCARDED: Final = "discarded by the stream's event source mapping"  # Lambda's own objects hold no reason
FORGOTTEN_AFTER: Final[Millis] = HOUR


class Prefix(StrEnum):
    """The two parts of the store."""

    DEAD_LETTERED = "dead-lettered"
    FAILED = "failed"


@frozen(kw_only=True)
class DeadLetter:
    """One stored body."""

    prefix: Prefix
    schedule_id: str  # empty if the body could not be read
    owner: str
    reason: str  # why it could not go on; to be read by an operator
    source: str  # the function that stored it
    at: Millis
    body: str  # the whole copy: a message, or a stream record as JSON

    @property
    def key(self) -> str:
        """The same body is stored under the same key, however often it becomes a dead letter."""
        digest = hashlib.sha256(self.body.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{self.prefix}/{self.schedule_id or MALFORMED}/{digest}.json"


@frozen(kw_only=True)
class Contents:
    """The schedules in an object of the store."""

    schedules: tuple[Schedule, ...] = ()
    malformed: int = 0  # records in it that this code cannot read, because of their shape or version
    others: int = 0  # schedules in it that the command was not given for
    handed_over: bool = False  # it is a message of an executor's queue
    accepted: bool = False  # it carries the outcome of an attempt that its target accepted


class _File(msgspec.Struct, rename="camel"):
    """As it is stored."""

    v: int
    prefix: Prefix
    schedule_id: str
    owner: str
    reason: str
    source: str
    at: Millis
    body: str


def encode(letter: DeadLetter) -> bytes:
    """The dead letter as a JSON file."""
    return msgspec.json.encode(_File(v=VERSION, **asdict(letter)))


def decode(content: bytes) -> DeadLetter:
    """The inverse of encode. Raises ValueError for anything else."""
    file = msgspec.json.decode(content, type=_File)
    if file.v != VERSION:
        raise ValueError(f"a dead letter of version {file.v}; this code reads version {VERSION}")
    values = msgspec.structs.asdict(file)
    del values["v"]
    return DeadLetter(**values)


@frozen(kw_only=True)
class WaitingRecords:
    """Stream records, whole."""

    records: tuple[object, ...]  # as DynamoDB's stream gave them
    reason: str
    at: Millis

    @property
    def key(self) -> str:
        """In the order of time. The same records set aside again at the same instant have the same key."""
        digest = hashlib.sha256(json.dumps(self.records, default=str).encode()).hexdigest()[:16]
        return f"{WAITING}{self.at:013d}-{digest}.json"


def encode_waiting(waiting: WaitingRecords) -> bytes:
    """As a JSON file, with the records where Lambda has them in what it gives up on."""
    content = {
        "v": WAITING_VERSION,
        "reason": waiting.reason,
        "at": waiting.at,
        "payload": {"Records": waiting.records},
    }
    return json.dumps(content).encode()


def rest_of(content: bytes, records: Sequence[object], now: Millis) -> WaitingRecords:
    """Returns the rest of an object, with its reason and its time."""
    file = json.loads(content)
    reason, at = file.get("reason", WHY_DISCARDED), file.get("at", now)
    return WaitingRecords(records=tuple(records), reason=reason, at=at)


def is_forgotten(key: str, now: Millis) -> bool:
    """Whether an object that could not be brought back has waited for so long that somebody should look at it.

    The keys of Lambda do not say since when; it gives up after 23 hours.
    """
    since = key.removeprefix(WAITING).partition("-")[0]
    return not (key.startswith(WAITING) and since.isdigit()) or now - int(since) > FORGOTTEN_AFTER


def records_in(content: bytes) -> Sequence[object]:
    """The stream records in an object of those that are BROUGHT_BACK. Raises Malformed if there are none to be found.

    Lambda writes the event as `payload`, as JSON or as text of JSON.
    """
    try:
        payload = json.loads(content)["payload"]
        records = (json.loads(payload) if isinstance(payload, str) else payload)["Records"]
    except (ValueError, KeyError, TypeError) as error:
        raise Malformed(f"no records can be found in it: {error!r}") from error
    if not isinstance(records, list):
        raise Malformed("its records are no list")
    return records


class Disposition(StrEnum):
    """The three possibilities."""

    MARK = "mark"  # store it, and write the end into the ledger
    STORE = "store"  # store it; the ledger says so already, or it is just being redriven
    DISCARD = "discard"  # it ended in another way, or there is another copy: it is not needed


def decide_disposition(current: LedgerRow | None, nonce: str, fence: str = "") -> Disposition:
    """Whether this copy may be the last one of its schedule.

    `nonce` is empty for a copy that was never sent, `fence` for one that was not handed over yet. Where two copies
    might be the last, it is stored: an operator sees a dead letter too many, but a discarded copy is lost.
    """
    if current is None:
        return Disposition.MARK
    if current.state is State.DEAD_LETTERED:
        return Disposition.STORE
    if current.state is State.SCHEDULED:
        # The redrive may not have sent its copy yet, and this body may be the very object that it reads.
        is_own = current.nonce in ("", nonce) and not current.fence
        return Disposition.MARK if is_own else Disposition.STORE
    if current.ended or current.nonce != nonce:
        return Disposition.DISCARD
    if current.arrival is Arrival.TAKEN and fence != current.fence:
        return Disposition.DISCARD  # another message makes this attempt
    if fence and current.retry_of:
        may_be_last = fence in (current.fence, current.retry_of) or current.arrival is Arrival.CONTESTED
        return Disposition.MARK if may_be_last else Disposition.DISCARD
    if fence:
        return Disposition.MARK  # if a new claim has overtaken it, the hand-over of that claim may never have been made
    return Disposition.DISCARD if current.retry_of else Disposition.MARK


def may_need_body(row: LedgerRow) -> bool:
    """Whether a stored body may be the only copy: it failed, is a dead letter, or is just being redriven."""
    return row.state in (State.FAILED, State.DEAD_LETTERED, State.SCHEDULED)
