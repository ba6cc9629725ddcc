"""The Lambda handlers of policies and subscribers: everything but the author's own function is the same for each."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from delayer.engines.aws.telemetry import Handler
from delayer.engines.ports import ReceivedMessage
from delayer.lambdas.events import partial_failure, received_messages_of
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

if TYPE_CHECKING:
    from delayer.history.received import Event
    from delayer.schedule.schedule import Schedule
    from delayer.timing.rules import Chosen


def policy_handler(ports: Environment, choose: "Callable[[Schedule], Chosen]") -> Handler:
    """Makes the handler that consumes the queue of one policy."""
    from delayer.timing.decide import Decide

    return _consumes(ports, build(Decide, ports, choose=choose))


def subscriber_handler(ports: Environment, read: "Callable[[Event], object]") -> Handler:
    """Makes the handler that consumes the queue of one subscriber."""
    from delayer.history.deliver import Deliver

    return _consumes(ports, build(Deliver, ports, read=read))


def _consumes(ports: Environment, use: Callable[[list[ReceivedMessage]], Sequence[str]]) -> Handler:
    def handler(event: Any, _: object) -> Any:  # its name is on the trace of each batch
        return partial_failure(use(received_messages_of(event)))

    return ports.observer.observed(handler)
