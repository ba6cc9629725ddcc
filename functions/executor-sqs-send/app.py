"""The action sqs-send."""

from functools import partial

from delayer.aws.clients import AWS_ERRORS, client, error_code
from delayer.aws.wiring import executor_handler
from delayer.targets.sqs_send import SqsTarget

handler = executor_handler(
    "executor-sqs-send", SqsTarget(client_for=partial(client, "sqs"), errors=AWS_ERRORS, code_of=error_code)
)
