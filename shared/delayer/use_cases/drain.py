"""Drains the dead-letter queues into the set-aside store: a message there is a schedule that nobody could fire."""

from collections.abc import Sequence

from attrs import frozen

from delayer.core.wire import DelayerMessage, ExecutorMessage, Unreadable, decode
from delayer.ports import Delivery, Unavailable
from delayer.use_cases.set_aside import SetAside, copy_of


@frozen(kw_only=True)
class Drain:
    """One batch of a dead-letter queue."""

    set_aside: SetAside

    def __call__(self, deliveries: Sequence[Delivery]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again."""
        return [delivery.message_id for delivery in deliveries if not self._keep(delivery)]

    def _keep(self, delivery: Delivery) -> bool:
        message = _message_in(delivery.body)
        reason = f"it could not be handled and came to {delivery.source}"
        try:
            self.set_aside.keep(copy_of(delivery.body, reason, message))
        except Unavailable:
            return False
        return True


def _message_in(body: str) -> DelayerMessage | ExecutorMessage | None:
    try:
        return decode(body, ExecutorMessage)
    except Unreadable:
        pass
    try:
        return decode(body, DelayerMessage)
    except Unreadable:
        return None
