"""Corrections to the embedded AWS, each with its reason. They fit one version only, and that is checked."""

import functools
import importlib
import json
import threading
import time
from importlib.metadata import version
from typing import Any, Protocol

from local.delayed_messages import DelayedMessages
from local.errors import LocalStackError

MINISTACK_VERSION = "1.5.33"
Result = dict[str, Any]


class Observer(Protocol):
    """Is told of every invocation, and of every batch that an SQS event source mapping receives or deletes."""

    def invoked(self, function: str, result: Result, seconds: float) -> None:
        """One invocation has ended."""

    def mapping_called(self, function: str, operation: str) -> None:
        """An event source mapping made one SQS request on behalf of this function."""


def install(observer: Observer) -> None:
    """Apply every correction. LocalStackError when another version is installed than the one they were written for."""
    check_version(version("ministack"))
    lambda_service = importlib.import_module("ministack.services.lambda_svc")
    sqs = importlib.import_module("ministack.services.sqs")
    dynamodb = importlib.import_module("ministack.services.dynamodb")
    observe_invocations(lambda_service, observer)
    StreamPoller(lambda_service, dynamodb).install()
    DelayedWakes(lambda_service, sqs).install()
    observe_mappings(lambda_service, sqs, observer)
    accept_concurrency_from_parameters(lambda_service)
    authorize_batches(importlib.import_module("ministack.core.iam_actions"))
    quicken(lambda_service)


def authorize_batches(iam_actions: Any) -> None:
    """SQS and SNS have no permissions of their own for batches: `sqs:SendMessage` covers `SendMessageBatch`."""
    extract = iam_actions.extract_iam_action

    @functools.wraps(extract)
    def extracted(service: str, *request: Any) -> str | None:
        action: str | None = extract(service, *request)
        return action.removesuffix("Batch") if service in ("sqs", "sns") and action else action

    iam_actions.extract_iam_action = extracted


def check_version(found: str) -> None:
    """Refuse a version whose internals nobody has read."""
    if found != MINISTACK_VERSION:
        raise LocalStackError(
            f"ministack {found} is installed, but local/ministack_patches.py fits {MINISTACK_VERSION} only; "
            "delete .venv and run make again."
        )


def observe_invocations(lambda_service: Any, observer: Observer) -> None:
    """Tell the observer of each invocation, and mark a partial failure of a stream batch (see StreamPoller)."""
    dispatch = lambda_service._execute_function_dispatch

    @functools.wraps(dispatch)
    def observed(func: Any, config: dict[str, Any], event: Any, request_id: str, started: float) -> Result:
        result: Result = dispatch(func, config, event, request_id, started)
        observer.invoked(config.get("FunctionName", "unknown"), result, time.time() - started)
        return with_partial_failure(event, result)

    lambda_service._execute_function_dispatch = observed


def with_partial_failure(event: Any, result: Result) -> Result:
    """The result of an invocation, as an error if it names failed records of a DynamoDB stream.

    ministack ignores `batchItemFailures` of streams and goes on after the whole batch, so a record that a function
    reports as failed would be lost.
    """
    if result.get("error") or not is_stream_batch(event):
        return result
    failed = failed_sequence_numbers(result.get("body"))
    if not failed:
        return result
    body = {"errorType": "PartialBatchFailure", "errorMessage": f"{len(failed)} records are to be delivered again."}
    return {**result, "error": True, "body": body, "restart_at": restart_at(event["Records"], failed)}


def is_stream_batch(event: Any) -> bool:
    """Whether an invocation's event is a batch of a DynamoDB stream."""
    records = event.get("Records") if isinstance(event, dict) else None
    return bool(records and records[0].get("eventSource") == "aws:dynamodb")


def failed_sequence_numbers(body: Any) -> list[str]:
    """The sequence numbers that a batch response names; an empty one means the whole batch, as on AWS."""
    content = json.loads(body) if isinstance(body, str) and body.startswith("{") else body
    failures = content.get("batchItemFailures") if isinstance(content, dict) else None
    return [failure.get("itemIdentifier") or "" for failure in failures or []]


def restart_at(records: list[dict[str, Any]], failed: list[str]) -> str:
    """The lowest failed sequence number of the batch; its first when a name is unknown, so that nothing is skipped."""
    numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
    return min(failed) if set(failed) <= set(numbers) else numbers[0]


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
        self.threads: dict[str, threading.Event] = {}
        self.mine = threading.local()

    def install(self) -> None:
        """Take the streams out of ministack's polling thread."""
        wake = self.service.esm_wake
        wake_queues = wake.set

        def wake_all() -> None:
            wake_queues()
            for event in list(self.threads.values()):
                event.set()

        # Every producer of ministack holds this very object, so its method is the one place to listen at.
        wake.set = wake_all
        self.service._iter_all_esms = self.mappings
        self.service._poll_dynamodb_streams = self.start_missing
        self.listen_to_failures()

    def mappings(self) -> Any:
        """All mappings; in a thread of this class its own one only."""
        own = getattr(self.mine, "mapping", None)
        return (entry for entry in self.all_mappings() if own is None or entry[2]["UUID"] == own)

    def start_missing(self) -> bool:
        """Start a thread for each new stream mapping; ministack's polling thread calls this in each pass."""
        for _account, _region, mapping in self.all_mappings():
            if ":dynamodb:" in mapping.get("EventSourceArn", "") and mapping["UUID"] not in self.threads:
                self.threads[mapping["UUID"]] = threading.Event()
                threading.Thread(target=self.poll_for_ever, args=(mapping,), daemon=True, name="stream-poller").start()
        return False

    def poll_for_ever(self, mapping: dict[str, Any]) -> None:
        """Serve one mapping; a poll without records waits for the next write."""
        self.mine.mapping = mapping["UUID"]
        wake = self.threads[mapping["UUID"]]
        while True:
            wake.clear()
            self.mine.restart_at = None
            try:
                processed = self.poll_streams()
                if self.mine.restart_at is not None:
                    self.advance_to(mapping, self.mine.restart_at)
            except Exception:
                self.service.logger.exception("The stream poller of %s failed and goes on.", mapping["UUID"])
                processed = False
            if not processed:
                wake.wait(1)

    def listen_to_failures(self) -> None:
        """Note where the batch of this thread has to restart; the poller itself leaves its position after an error."""
        execute = self.service._execute_function

        @functools.wraps(execute)
        def noted(func: Any, event: Any) -> Result:
            result: Result = execute(func, event)
            if getattr(self.mine, "mapping", None):
                self.mine.restart_at = result.get("restart_at")
            return result

        self.service._execute_function = noted

    def advance_to(self, mapping: dict[str, Any], sequence_number: str) -> None:
        """Move a mapping's position forward to this record: those before it have succeeded."""
        table = self.service._dynamodb_stream_table_from_arn_spec(self.service.parse_arn(mapping["EventSourceArn"]))[0]
        first = self.dynamodb.stream_start_position(table)
        numbers = [record["dynamodb"]["SequenceNumber"] for record in self.dynamodb.stream_live_records(table)]
        with self.service._dynamodb_stream_positions_lock:
            self.service._dynamodb_stream_positions[mapping["UUID"]] = first + numbers.index(sequence_number)


class DelayedWakes:
    """Polls a queue when its next message becomes visible, and not in between.

    ministack looks once a second when idle, so a delayed message would be up to a second late; and each look walks
    through all messages of a queue, which is dear when ten thousand wait. A mapping hears of a batch once it is
    there whole; else it would take the first message of each alone.
    """

    def __init__(self, lambda_service: Any, sqs: Any) -> None:
        self.sqs = sqs
        self.index = DelayedMessages(wake=lambda_service.esm_wake.set)
        self.batch = threading.local()  # what this thread's SendMessageBatch has put into its queue so far
        self.send_one, self.send_many = sqs._act_send_message, sqs._act_send_message_batch
        self.receive_visible = sqs._receive_messages_for_esm

    def install(self) -> None:
        """Take the place of ministack's own."""
        sqs = self.sqs
        sqs._act_send_message = sqs._HANDLERS["SendMessage"] = self.send
        sqs._act_send_message_batch = sqs._HANDLERS["SendMessageBatch"] = self.send_batch
        sqs._receive_messages_for_esm = self.receive
        self.index.start()

    def send(self, data: dict[str, Any], queue_url: str) -> Any:
        """One message, or one of a batch."""
        answer = self.send_one(data, queue_url)
        queue = self.sqs._get_q(data.get("QueueUrl", queue_url))
        # The slice, because a mapping may have taken and deleted the message by now.
        sent = [(queue["url"], message["visible_at"]) for message in queue["messages"][-1:]]
        if hasattr(self.batch, "sent"):
            self.batch.sent += sent
        else:
            self.note(sent)
        return answer

    def send_batch(self, data: dict[str, Any], queue_url: str) -> Any:
        """A batch, by way of `send` for each of its messages."""
        self.batch.sent = []
        try:
            return self.send_many(data, queue_url)
        finally:
            self.note(self.batch.sent)
            del self.batch.sent

    def note(self, sent: list[tuple[str, float]]) -> None:
        """Set the alarms."""
        for queue_url, visible_at in sent:
            self.index.note(queue_url, visible_at)

    def receive(self, queue_url: str, max_number: int) -> Any:
        """What is visible, if anything can be."""
        now = time.time()
        if not self.index.worth_a_look(queue_url, now):
            return []
        batch = self.receive_visible(queue_url, max_number)
        if len(batch) < min(max_number, 10):
            self.index.emptied(queue_url, now)
        self.note([(queue_url, message["visible_at"]) for message in batch])
        return batch


def observe_mappings(lambda_service: Any, sqs: Any, observer: Observer) -> None:
    """Tell the observer of the SQS requests that AWS would bill for a mapping: they never pass through the gateway."""
    run, delete = lambda_service._run_sqs_batch, sqs._delete_messages_for_esm
    serving = threading.local()

    @functools.wraps(run)
    def run_and_count(esm: Any, func: Any, event: Any, batch: Any, queue_url: str, queue_name: str) -> None:
        serving.function = esm["FunctionName"]
        observer.mapping_called(serving.function, "ReceiveMessage")
        run(esm, func, event, batch, queue_url, queue_name)

    @functools.wraps(delete)
    def delete_and_count(queue_url: str, receipt_handles: set[str]) -> None:
        observer.mapping_called(getattr(serving, "function", "unknown"), "DeleteMessageBatch")
        delete(queue_url, receipt_handles)

    lambda_service._run_sqs_batch = run_and_count
    sqs._delete_messages_for_esm = delete_and_count


def accept_concurrency_from_parameters(lambda_service: Any) -> None:
    """Read a mapping's MaximumConcurrency as a number.

    A template parameter arrives as text, and comparing that with a number ends every pass of the polling thread.
    """
    concurrency = lambda_service._sqs_esm_concurrency

    @functools.wraps(concurrency)
    def as_number(esm: dict[str, Any], *rest: Any) -> Any:
        scaling = esm.get("ScalingConfig") or {}
        if "MaximumConcurrency" in scaling:
            scaling["MaximumConcurrency"] = int(scaling["MaximumConcurrency"])
        return concurrency(esm, *rest)

    lambda_service._sqs_esm_concurrency = as_number


def quicken(lambda_service: Any) -> None:
    """Shorten waits that AWS does not have."""
    # A pass that found nothing delays the next by this; looks are cheap now (DelayedWakes).
    lambda_service._ESM_IDLE_WAKE_GAP_SECONDS = 0.002
    # Schedules are looked at each 10 s, so that a rate of one minute would come 60 to 70 s apart.
    scheduler: Any = importlib.import_module("ministack.services.scheduler")
    scheduler._SCHEDULE_TICK_INTERVAL = 1
    # Every invocation waits up to 50 ms for log lines after its answer. Late lines join the next invocation's log.
    runtime: Any = importlib.import_module("ministack.core.lambda_runtime")
    runtime.Worker._drain_stderr_bounded.__defaults__ = (0.003, 0.002, 0.1)
