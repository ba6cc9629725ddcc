"""The Lambda handler of an executor: everything but the target is the same for every action."""

from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.aws.runtime.telemetry import Handler
from delayer.ports.target import Target
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import execute


def executor_handler(function: str, target: Target) -> Handler:
    """`function` is the name of the Lambda without that of its stack, such as `executor-http-request`."""
    return handler_of(Environment(function), target)


def handler_of(ports: Environment, target: Target) -> Handler:
    """The same, for a target that needs something of the bundle."""
    use = execute(ports, target)
    return ports.observer.observed(lambda event, _: partial_failure(use(received_messages_of(event))))
