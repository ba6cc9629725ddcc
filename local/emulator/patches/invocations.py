"""Invocations: reported to the observer, with the caller's address, and an error after a stream's partial failure."""

import functools
import json
import time
from typing import Any

from local.emulator.observer import InvocationResult, Observer

KEPT_LOG_STREAMS = 50  # of each group; the log files have everything


def observe_invocations(lambda_service: Any, observer: Observer) -> None:
    """Report each invocation to the observer, and mark a partial failure of a stream's batch (see StreamPoller)."""
    dispatch = lambda_service._execute_function_dispatch

    @functools.wraps(dispatch)
    def observed(func: Any, config: dict[str, Any], event: Any, request_id: str, started: float) -> InvocationResult:
        result: InvocationResult = dispatch(func, config, event, request_id, started)
        observer.invoked(config.get("FunctionName", "unknown"), result, time.time() - started)
        return with_partial_failure(event, result)

    lambda_service._execute_function_dispatch = observed


def invoke_as_rules_do(lambda_service: Any, rules: Any) -> None:
    """A rule invokes a function as an event. ministack knows that, and its rules on a schedule do not use it."""

    def dispatch(arn: str, payload: str) -> None:
        function, _, _ = lambda_service._get_func_record_for_ref(arn)
        if function:
            lambda_service.invoke_async_with_retry(function, json.loads(payload))

    rules._dispatch_to_lambda = dispatch


def keep_few_log_streams(lambda_service: Any, logs: Any) -> None:
    """Forget the oldest logs of a function. ministack makes a stream for each invocation, and keeps all in memory."""
    emit = lambda_service._emit_lambda_logs

    @functools.wraps(emit)
    def emitted(function: Any, *rest: Any, **options: Any) -> None:
        emit(function, *rest, **options)
        config = function.get("config") or function
        group = (config.get("LoggingConfig") or {}).get("LogGroup") or f"/aws/lambda/{config.get('FunctionName')}"
        streams = (logs._log_groups.get(group) or {"streams": {}})["streams"]
        while len(streams) > KEPT_LOG_STREAMS:
            streams.pop(next(iter(streams)), None)

    lambda_service._emit_lambda_logs = emitted


def with_partial_failure(event: Any, result: InvocationResult) -> InvocationResult:
    """The result of an invocation, as an error if it names failed records of a DynamoDB stream.

    ministack ignores `batchItemFailures` of streams and continues after the whole batch, so a record that a function
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
    """The lowest failed sequence number of the batch.

    If one of the failed numbers is not in the batch, the batch's first number, so that nothing is skipped.
    """
    numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
    return min(failed) if set(failed) <= set(numbers) else numbers[0]


def pass_source_address(lambda_service: Any, responses: Any) -> None:
    """Put the client's real address into the events of the HTTP API, where ministack always writes 127.0.0.1."""
    execute = lambda_service._execute_function_with_config_scope

    @functools.wraps(execute)
    def with_source(func: Any, event: Any) -> InvocationResult:
        http = event.get("requestContext", {}).get("http") if isinstance(event, dict) else None
        if http:
            http["sourceIp"] = responses.get_request_client_ip()
        result: InvocationResult = execute(func, event)
        return result

    lambda_service._execute_function_with_config_scope = with_source
