"""Event source mappings of SQS: they share queues with others, are reported, and have a concurrency of choice."""

import functools
import importlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from local.emulator.observer import Observer
from local.emulator.patches.queues.visibility_index import VisibilityIndex

MESSAGES = ("_collect_msgs", "_expire_retained", "_dlq_sweep")  # what a receive does with the messages of a queue
FIRST_BATCHES = 5
MORE_A_SECOND = 5
HANDLERS = (
    "SendMessage",
    "SendMessageBatch",
    "DeleteMessage",
    "DeleteMessageBatch",
    "ChangeMessageVisibility",
    "ChangeMessageVisibilityBatch",
    "PurgeQueue",
)


def observe_mappings(lambda_service: Any, sqs: Any, observer: Observer) -> None:
    """Report the SQS requests that AWS would bill for a mapping: they never pass through the gateway."""
    run, delete = lambda_service._run_sqs_batch, sqs._delete_messages_for_esm
    current = threading.local()  # the function that this thread works for

    @functools.wraps(run)
    def run_and_report(esm: Any, func: Any, event: Any, batch: Any, queue_url: str, queue_name: str) -> None:
        current.function = esm["FunctionName"]
        observer.mapping_called(current.function, "ReceiveMessage")
        run(esm, func, event, batch, queue_url, queue_name)

    @functools.wraps(delete)
    def delete_and_report(queue_url: str, receipt_handles: set[str]) -> None:
        observer.mapping_called(getattr(current, "function", "unknown"), "DeleteMessageBatch")
        delete(queue_url, receipt_handles)

    lambda_service._run_sqs_batch = run_and_report
    sqs._delete_messages_for_esm = delete_and_report


def take_turns(sqs: Any, sns: Any) -> None:
    """Let one thread at a time change the messages of queues, also one that delivers for a topic.

    Requests take no lock, and mappings work in threads of their own: one message would be received by both, and a
    message that is sent while a mapping deletes others would be lost.
    """
    sqs._queues_lock = turn = threading.RLock()

    def in_turn(do: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(do)
        def alone(*arguments: Any, **named: Any) -> Any:
            with turn:
                return do(*arguments, **named)

        return alone

    for name in MESSAGES:
        setattr(sqs, name, in_turn(getattr(sqs, name)))
    sqs._HANDLERS.update({name: in_turn(sqs._HANDLERS[name]) for name in HANDLERS})
    sqs._act_send_message = sqs._HANDLERS["SendMessage"]  # what rules call
    sns._deliver_to_sqs = in_turn(sns._deliver_to_sqs)


def poll_what_may_have_messages(lambda_service: Any, index: VisibilityIndex) -> None:
    """Let a pass of ministack's polling thread look at the queues that may have something, instead of all.

    Streams are not polled by this thread (StreamPoller), but it starts their mappings.
    """
    all_mappings = lambda_service._iter_all_esms
    poll_queues = lambda_service._poll_sqs
    current = threading.local()  # whether this thread polls queues

    def mappings() -> Iterator[Any]:
        now = time.time()
        for entry in all_mappings():
            if not getattr(current, "polls", False) or may_have_visible(entry[2]["EventSourceArn"], now):
                yield entry

    def may_have_visible(source: str, now: float) -> bool:
        return ":sqs:" in source and index.may_have_visible(queue_url(source), now)

    @functools.cache
    def queue_url(source: str) -> str:
        _, _, _, _region, account, name = source.split(":", 5)
        sqs = importlib.import_module("ministack.services.sqs")
        url: str = sqs._queue_url_for_account(account, name)
        return url

    @functools.wraps(poll_queues)
    def poll() -> bool:
        current.polls = True
        try:
            found: bool = poll_queues()
            return found
        finally:
            current.polls = False

    lambda_service._iter_all_esms = mappings
    lambda_service._poll_sqs = poll


def scale_as_lambda(lambda_service: Any, now: Callable[[], float] = time.monotonic) -> None:
    """Let a mapping begin with five batches at a time, and add five a second while there are more, up to its maximum.

    So does Lambda (Developer Guide, "Configuring scaling behavior for SQS event source mappings"). ministack begins
    with the maximum: a burst would start all processes at once, each with a message or two. A template parameter
    arrives as text, and comparing text with a number would end each pass of the polling thread.
    """
    concurrency = lambda_service._sqs_esm_concurrency
    begun: dict[str, float] = {}  # UUID -> since when there was always a batch under way

    @functools.wraps(concurrency)
    def allowed(esm: dict[str, Any], *rest: Any) -> int:
        scaling = esm.get("ScalingConfig") or {}
        if "MaximumConcurrency" in scaling:
            scaling["MaximumConcurrency"] = int(scaling["MaximumConcurrency"])
        at_most: int = concurrency(esm, *rest)
        if not lambda_service._esm_inflight.get(esm["UUID"]):
            begun[esm["UUID"]] = now()
        return min(at_most, FIRST_BATCHES + int((now() - begun[esm["UUID"]]) * MORE_A_SECOND))

    lambda_service._sqs_esm_concurrency = allowed
