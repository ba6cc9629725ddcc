"""IAM: the permissions of batch operations."""

import functools
from typing import Any


def authorize_batches(iam_actions: Any) -> None:
    """SQS and SNS have no permissions of their own for batches: `sqs:SendMessage` covers `SendMessageBatch`."""
    extract = iam_actions.extract_iam_action

    @functools.wraps(extract)
    def extracted(service: str, *request: Any) -> str | None:
        action: str | None = extract(service, *request)
        return action.removesuffix("Batch") if service in ("sqs", "sns") and action else action

    iam_actions.extract_iam_action = extracted
