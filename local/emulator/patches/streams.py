"""DynamoDB streams: a thread for each event source mapping, and a restart at the lowest failed record."""

import functools
import threading
from typing import Any

from local.emulator.observer import InvocationResult

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


class StreamPoller:
    """Polls each stream mapping in a thread of its own, and restarts at the lowest failed record.

    ministack invokes the functions of streams inside its one polling thread, so that a slow one would stall every
    queue and every other stream.
    """

    def __init__(self, lambda_service: Any, dynamodb: Any) -> None:
        self.service = lambda_service
        self.dynamodb = dynamodb
        self.poll_streams = lambda_service._poll_dynamodb_streams
        self.all_mappings = lambda_service._iter_all_esms
        self.wakes: dict[str, threading.Event] = {}  # by the mapping's UUID; one for each thread
        self.current = threading.local()  # what this thread works on: `mapping` (UUID) and `restart_at`

    def install(self) -> None:
        """Take the streams out of ministack's polling thread."""
        wake = self.service.esm_wake
        wake_queues = wake.set

        def wake_all() -> None:
            wake_queues()
            for event in list(self.wakes.values()):
                event.set()

        # Every producer of ministack holds this one object, so its method is the only place that has to change.
        wake.set = wake_all
        self.service._iter_all_esms = self.mappings
        self.service._poll_dynamodb_streams = self.start_missing
        self.note_failures()

    def mappings(self) -> Any:
        """All mappings; in a thread of this class only the thread's own."""
        own = getattr(self.current, "mapping", None)
        return (entry for entry in self.all_mappings() if own is None or entry[2]["UUID"] == own)

    def start_missing(self) -> bool:
        """Start a thread for each new stream mapping; ministack's polling thread calls this in each pass."""
        for _account, _region, mapping in self.all_mappings():
            if ":dynamodb:" in mapping.get("EventSourceArn", "") and mapping["UUID"] not in self.wakes:
                self.wakes[mapping["UUID"]] = threading.Event()
                threading.Thread(target=self.poll_forever, args=(mapping,), daemon=True, name="stream-poller").start()
        return False

    def poll_forever(self, mapping: dict[str, Any]) -> None:
        """Serve one mapping; a poll without records waits for the next write."""
        self.current.mapping = mapping["UUID"]
        wake = self.wakes[mapping["UUID"]]
        while True:
            wake.clear()
            self.current.restart_at = None
            try:
                processed = self.poll_streams()
                if self.current.restart_at is not None:
                    self.advance_to(mapping, self.current.restart_at)
            except Exception:
                self.service.logger.exception("The stream poller of %s failed and continues.", mapping["UUID"])
                processed = False
            if not processed:
                wake.wait(1)

    def note_failures(self) -> None:
        """Note where this thread's batch has to restart; ministack leaves the position unchanged after an error."""
        execute = self.service._execute_function

        @functools.wraps(execute)
        def noted(func: Any, event: Any) -> InvocationResult:
            result: InvocationResult = execute(func, event)
            if getattr(self.current, "mapping", None):
                self.current.restart_at = result.get("restart_at")
            return result

        self.service._execute_function = noted

    def advance_to(self, mapping: dict[str, Any], sequence_number: str) -> None:
        """Move a mapping's position forward to this record: those before it have succeeded."""
        table = self.service._dynamodb_stream_table_from_arn_spec(self.service.parse_arn(mapping["EventSourceArn"]))[0]
        first = self.dynamodb.stream_start_position(table)
        numbers = [record["dynamodb"]["SequenceNumber"] for record in self.dynamodb.stream_live_records(table)]
        with self.service._dynamodb_stream_positions_lock:
            self.service._dynamodb_stream_positions[mapping["UUID"]] = first + numbers.index(sequence_number)
