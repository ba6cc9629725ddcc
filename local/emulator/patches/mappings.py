"""Event source mappings of SQS: they share queues with others, are reported, and have a concurrency of choice."""

import functools
import threading
from collections.abc import Callable
from typing import Any

from local.emulator.observer import Observer

MESSAGES = ("_collect_msgs", "_expire_retained", "_dlq_sweep")  # what a receive does with the messages of a queue
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


def take_turns(sqs: Any) -> None:
    """Let one thread at a time change the messages of queues.

    Requests take no lock, and mappings work in threads of their own: one message would be received by both, and a
    message that is sent while a mapping deletes others would be lost.
    """
    sqs._queues_lock = turn = threading.RLock()

    def in_turn(do: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(do)
        def alone(*arguments: Any) -> Any:
            with turn:
                return do(*arguments)

        return alone

    for name in MESSAGES:
        setattr(sqs, name, in_turn(getattr(sqs, name)))
    sqs._HANDLERS.update({name: in_turn(sqs._HANDLERS[name]) for name in HANDLERS})
    sqs._act_send_message = sqs._HANDLERS["SendMessage"]  # what topics and rules call


def accept_concurrency_from_parameters(lambda_service: Any) -> None:
    """Read a mapping's MaximumConcurrency as a number.

    A template parameter arrives as text. Comparing text with a number would end each pass of the polling thread.
    """
    concurrency = lambda_service._sqs_esm_concurrency

    @functools.wraps(concurrency)
    def as_number(esm: dict[str, Any], *rest: Any) -> Any:
        scaling = esm.get("ScalingConfig") or {}
        if "MaximumConcurrency" in scaling:
            scaling["MaximumConcurrency"] = int(scaling["MaximumConcurrency"])
        return concurrency(esm, *rest)

    lambda_service._sqs_esm_concurrency = as_number
