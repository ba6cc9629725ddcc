"""The queue of each action type, by its registration."""

from collections.abc import Callable, Iterator, Mapping

from attrs import frozen

from delayer.ports.queue import SendsMessages
from delayer.use_cases.actions.registered import RegisteredActions


@frozen(kw_only=True)
class ExecutorQueues(Mapping[str, SendsMessages]):
    """By type. The actions of other stacks share the queue of executor-remote.

    Raises Unavailable if no registration was ever read.
    """

    actions: RegisteredActions
    remote: str  # the URL of the queue of executor-remote
    queue_at: Callable[[str], SendsMessages]  # of a URL

    def __getitem__(self, kind: str) -> SendsMessages:
        return self.queue_at(self.actions.registration(kind).queue or self.remote)

    def __iter__(self) -> Iterator[str]:
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)
