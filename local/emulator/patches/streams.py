"""DynamoDB streams: threads for each event source mapping, and a restart at the lowest failed record."""

import functools
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from local.emulator.observer import InvocationResult
from local.emulator.patches.stream_lanes import Lane, Record, lane_of

READ_AT_ONCE: Final = 1000  # records, as GetRecords
KEPT_SECONDS: Final = 60.0  # for somebody who reads the stream by its API
HISTORY: Final = threading.RLock()  # while records are counted or forgotten
EXPIRED = "expiresAt < :now"  # the condition of a delete that plays DynamoDB's TTL; nobody else has it


def name_who_expires(dynamodb: Any) -> None:
    """In the stream, a delete by the TTL names the service, as on AWS. ministack's own TTL writes no stream record."""
    delete, build = dynamodb._delete_item, dynamodb._build_change_record
    current = threading.local()  # whether this thread plays the TTL

    @functools.wraps(delete)
    def noted(data: dict[str, Any]) -> Any:
        current.expires = data.get("ConditionExpression") == EXPIRED
        try:
            return delete(data)
        finally:
            current.expires = False

    @functools.wraps(build)
    def named(*arguments: Any) -> dict[str, Any]:
        record: dict[str, Any] = build(*arguments)
        if getattr(current, "expires", False):
            record["userIdentity"] = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
        return record

    dynamodb._delete_item, dynamodb._build_change_record = noted, named


def match_what_is_absent(service: Any) -> None:
    """A pattern may ask that a field is not there, as on AWS, also where what would hold it is not there either.

    And what is not there matches no `anything-but`.
    """
    matches = service._match_esm_filter

    def fits(record: dict[str, Any], pattern: dict[str, Any]) -> bool:
        return has_what_is_compared(record, pattern) and matches(filled(record, pattern), pattern)

    service._match_esm_filter = fits


def has_what_is_compared(record: dict[str, Any], pattern: dict[str, Any]) -> bool:
    """Whether each field is there of which all that the pattern asks is that it is not one of some values."""
    for name, part in pattern.items():
        if isinstance(part, list) and name not in record and all("anything-but" in str(one) for one in part):
            return False
        if isinstance(part, dict) and not has_what_is_compared(record.get(name) or {}, part):
            return False
    return True


def filled(record: dict[str, Any], pattern: dict[str, Any]) -> dict[str, Any]:
    """The record with an empty object wherever the pattern looks into one that it does not have."""
    return {**record, **{name: record.get(name) or {} for name, part in pattern.items() if isinstance(part, dict)}}


class StreamPoller:
    """Reads each stream mapping in a thread of its own, and hands its records to the mapping's lanes.

    ministack invokes the functions of streams inside its one polling thread, so that a slow one would stall every
    queue and every other stream. It knows neither lanes nor the batching window, loses records that are reported as
    failed, and keeps what everybody has read for 24 hours.
    """

    def __init__(self, lambda_service: Any, dynamodb: Any) -> None:
        self.service = lambda_service
        self.dynamodb = dynamodb
        self.mappings: dict[str, StreamMapping] = {}  # by UUID

    def install(self) -> None:
        """Take the streams out of ministack's polling thread, which is not woken by them any more."""
        self.dynamodb.esm_wake = SimpleNamespace(set=lambda: None)
        self.service._poll_dynamodb_streams = self.start_missing
        emit = self.dynamodb._emit_stream_event

        @functools.wraps(emit)
        def emitted(table: str, *change: Any, **options: Any) -> None:
            emit(table, *change, **options)
            self.wake(table)

        self.dynamodb._emit_stream_event = emitted

    def wake(self, table: str) -> None:
        """There may be a new record of this table."""
        for mapping in list(self.mappings.values()):
            if mapping.table == table and not mapping.wake.is_set():
                mapping.wake.set()

    def start_missing(self) -> bool:
        """Start each new stream mapping; ministack's polling thread calls this in each pass."""
        for account, region, esm in self.service._iter_all_esms():
            if ":dynamodb:" in esm.get("EventSourceArn", "") and esm["UUID"] not in self.mappings:
                mapping = StreamMapping(self, esm, (account, region))
                self.mappings[esm["UUID"]] = mapping
                mapping.start()
        return False

    def forget_read(self, table: str) -> None:
        """Let go of the records of a table that all its mappings are done with, but for the last minute's."""
        done = [mapping.checkpoint() for mapping in self.mappings.values() if mapping.table == table]
        with HISTORY:
            records = self.dynamodb.stream_live_records(table)
            first = self.dynamodb.stream_start_position(table)
            count = count_to_forget(records, min(done) - first, time.time() - KEPT_SECONDS)
            if count:
                del records[:count]
                self.dynamodb._stream_trimmed[table] = first + count


def count_to_forget(records: list[dict[str, Any]], read: int, before: float) -> int:
    """How many of the first records are read and from before this instant (epoch seconds)."""
    count = 0
    while count < min(read, len(records)) and records[count]["dynamodb"]["ApproximateCreationDateTime"] < before:
        count += 1
    return count


class StreamMapping:
    """One mapping: a thread that reads, and one for each lane."""

    def __init__(self, poller: StreamPoller, esm: dict[str, Any], scope: tuple[str, str]) -> None:
        self.poller, self.esm, self.scope = poller, esm, scope
        self.service, self.dynamodb = poller.service, poller.dynamodb
        self.wake = threading.Event()
        self.table = self.service._dynamodb_stream_table_from_arn_spec(self.service.parse_arn(esm["EventSourceArn"]))[0]
        window = float(esm.get("MaximumBatchingWindowInSeconds") or 0)
        size, lanes = int(esm.get("BatchSize") or 100), int(esm.get("ParallelizationFactor") or 1)
        self.lanes = [Lane(size=size, window=window) for _ in range(lanes)]
        self.read_until = self.starting_place()  # from which on nothing was read

    def start(self) -> None:
        """Start its threads. They end with the process, or with the mapping."""
        for work in (self.read_forever, *(partial(self.handle_forever, lane) for lane in self.lanes)):
            threading.Thread(target=self.scoped, args=(work,), daemon=True, name="stream").start()

    def scoped(self, work: Callable[[], None]) -> None:
        """Work for the account and the region of the mapping: these are of a thread, for ministack."""
        self.service._request_account_id.set(self.scope[0])
        self.service._request_region.set(self.scope[1])
        work()

    def exists(self) -> bool:
        """Whether it has not been deleted."""
        return any(esm["UUID"] == self.esm["UUID"] for _account, _region, esm in self.service._iter_all_esms())

    def read_forever(self) -> None:
        """Read what is new, whenever there is something, and forget what is done."""
        forgotten_at = time.monotonic()
        while self.wake.is_set() or self.exists():
            self.wake.clear()
            if self.esm.get("Enabled", True):
                while self.read():
                    pass
            if time.monotonic() - forgotten_at > KEPT_SECONDS / 10:
                forgotten_at = time.monotonic()
                self.poller.forget_read(self.table)
            self.wake.wait(1)
        self.poller.mappings.pop(self.esm["UUID"], None)

    def starting_place(self) -> int:
        """Where ministack has put the mapping when it was created, or else where it says that it starts."""
        positions: dict[str, int] = self.service._dynamodb_stream_positions
        begins = self.dynamodb.stream_start_position
        ends = self.dynamodb.stream_end_position
        default = begins if self.esm.get("StartingPosition") == "TRIM_HORIZON" else ends
        place: int = positions.get(self.esm["UUID"], default(self.table))
        return place

    def read(self) -> bool:
        """Give records to the lanes; False if there were none."""
        with HISTORY:
            self.read_until = max(self.read_until, self.dynamodb.stream_start_position(self.table))
            records = self.dynamodb.stream_records_since(self.table, self.read_until, READ_AT_ONCE)
            begin, self.read_until = self.read_until, self.read_until + len(records)
            places = {id(record): begin + number for number, record in enumerate(records)}
            by_lane: dict[int, list[tuple[int, Record]]] = defaultdict(list)
            for record in self.service._apply_filter_criteria(records, self.esm) if records else []:
                by_lane[lane_of(record, len(self.lanes))].append((places[id(record)], record))
            for number, wanted in by_lane.items():
                self.lanes[number].add(wanted)
        return bool(records)

    def checkpoint(self) -> int:
        """The place of the first record that is not done."""
        read_until = self.read_until
        return min([read_until, *(first for lane in self.lanes if (first := lane.first()) is not None)])

    def handle_forever(self, lane: Lane) -> None:
        """One batch after the other; what failed comes again after a pause."""
        while True:
            batch = lane.batch()
            try:
                done = self.handle(batch)
            except Exception:
                self.service.logger.exception("The stream mapping %s failed and continues.", self.esm["UUID"])
                done = 0
            lane.done(done)
            self.service._dynamodb_stream_positions[self.esm["UUID"]] = self.checkpoint()
            if done < len(batch):
                time.sleep(self.service._ESM_BACKOFF_SECONDS)

    def handle(self, batch: list[Record]) -> int:
        """Invoke the function; how many of the first records are done with."""
        function, _config = self.service._get_func_record_for_qualifier(
            self.esm["FunctionName"], self.esm.get("Qualifier")
        )
        if function is None or not self.esm.get("Enabled", True):
            return 0
        result: InvocationResult = self.service._execute_function(function, {"Records": batch})
        if not result.get("error"):
            self.esm["LastProcessingResult"] = f"OK - {len(batch)} records"
            return len(batch)
        self.esm["LastProcessingResult"] = "FAILED"
        if is_too_old(batch[0], self.esm.get("MaximumRecordAgeInSeconds"), time.time()):
            self.service._send_ddb_stream_failure_record(
                self.esm, function, batch, self.esm["EventSourceArn"], result, "MaxRecordAgeExceeded"
            )
            return len(batch)
        numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
        return numbers.index(result["restart_at"]) if result.get("restart_at") else 0


def is_too_old(record: Record, at_most: object, now: float) -> bool:
    """Whether a record that fails is given up. `at_most`: seconds, as in the mapping; -1 and nothing mean never."""
    seconds = int(str(at_most or -1))
    return 0 < seconds < now - float(record["dynamodb"]["ApproximateCreationDateTime"])
