"""The action http-request."""

from delayer.aws.runtime.environment import setting
from delayer.targets.http_request import HttpTarget
from delayer.wiring.executor import executor_handler

handler = executor_handler(
    "executor-http-request", HttpTarget(allow_private=setting("ALLOW_PRIVATE_TARGETS") == "true")
)
