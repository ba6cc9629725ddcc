"""The action sqs-send."""

from delayer.aws.runtime.clients import AWS_ERRORS, client, error_code
from delayer.aws.runtime.environment import setting
from delayer.targets.sqs_send import SqsTarget
from delayer.wiring.executor import executor_handler

handler = executor_handler(
    "executor-sqs-send",
    SqsTarget(
        client_for=lambda region: client("sqs", region),
        errors=AWS_ERRORS,
        code_of=error_code,
        account=setting("ACCOUNT"),
        region=setting("AWS_REGION"),
        regions=frozenset(setting("SQS_TARGET_REGIONS").split(",")),
        stack=setting("STACK"),
        own_queue=setting("OWN_QUEUE"),
    ),
)
