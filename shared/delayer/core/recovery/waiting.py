"""Records of the stream that wait in the store, because they could not be handled: the minute task brings them back."""

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.schedule.instants import HOUR, Millis
from delayer.core.schedule.malformed import Malformed

VERSION: Final = 1
WAITING: Final = "waiting/"  # what the stream-enqueuer set aside
DISCARDED: Final = "aws/lambda/"  # what Lambda itself gave up on, with keys of its own
PREFIXES: Final = (WAITING, DISCARDED)
WHY_DISCARDED: Final = "discarded by the stream's event source mapping"  # Lambda's own objects hold no reason
FORGOTTEN_AFTER: Final[Millis] = HOUR


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


def encode(waiting: WaitingRecords) -> bytes:
    """As a JSON file, with the records where Lambda has them in what it gives up on."""
    content = {"v": VERSION, "reason": waiting.reason, "at": waiting.at, "payload": {"Records": waiting.records}}
    return json.dumps(content).encode()


def rest_of(content: bytes, records: Sequence[object], now: Millis) -> WaitingRecords:
    """What is left of an object, with its reason and its time."""
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
    """The stream records in an object under one of the PREFIXES. Raises Malformed if there are none to be found.

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
