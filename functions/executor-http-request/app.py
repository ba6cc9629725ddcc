"""The action http-request."""

from delayer.aws.runtime import setting
from delayer.aws.wiring import executor_handler
from delayer.targets.http_request import HttpTarget

handler = executor_handler(
    "executor-http-request", HttpTarget(allow_private=setting("ALLOW_PRIVATE_TARGETS") == "true")
)
