"""IAM: the permissions of batches and of event buses, what counts as a safe transport, and how policies are read."""

import functools
import json
from typing import Any, Final

KEPT_POLICIES: Final = 1024


def authorize_batches(iam_actions: Any) -> None:
    """SQS and SNS have no permissions of their own for batches: `sqs:SendMessage` covers `SendMessageBatch`."""
    extract = iam_actions.extract_iam_action

    @functools.wraps(extract)
    def extracted(service: str, *request: Any) -> str | None:
        action: str | None = extract(service, *request)
        return action.removesuffix("Batch") if service in ("sqs", "sns") and action else action

    iam_actions.extract_iam_action = extracted


def trust_loopback(iam_evaluator: Any) -> None:
    """A call from this machine counts as one over TLS: the emulator listens on loopback only, and without TLS.

    The queues and the bucket refuse everything else. It has to be done before ministack's application is imported.
    """
    pin = iam_evaluator.pin_request_origin

    @functools.wraps(pin)
    def pinned(source_ip: str, secure_transport: bool) -> None:
        pin(source_ip, secure_transport or source_ip == "127.0.0.1")

    iam_evaluator.pin_request_origin = pinned


def name_event_buses(iam_actions: Any) -> None:
    """DescribeEventBus is of a bus: ministack takes the name in it for that of a rule."""
    extract = iam_actions.extract_resource_arn

    @functools.wraps(extract)
    def extracted(service: str, *request: Any) -> str:
        _, _, headers, body, _, region, account = request
        target = {name.lower(): value for name, value in headers.items()}.get("x-amz-target", "")
        if service != "events" or not target.endswith(".DescribeEventBus"):
            arn: str = extract(service, *request)
            return arn
        name = json.loads(body or b"{}").get("Name", "default").rpartition("/")[2]
        return f"arn:aws:events:{region}:{account}:event-bus/{name}"

    iam_actions.extract_resource_arn = extracted


def parse_policies_once(iam_evaluator: Any) -> None:
    """Keep what the text of a policy says: ministack reads it again for each request."""
    parse = iam_evaluator.parse_policy_document
    kept = functools.lru_cache(maxsize=KEPT_POLICIES)(parse)

    @functools.wraps(parse)
    def parsed(document: Any) -> Any:
        return kept(document) if isinstance(document, str) else parse(document)

    iam_evaluator.parse_policy_document = parsed
