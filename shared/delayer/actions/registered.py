"""The action types of this stack as an execution environment knows them, what a list shows, and their queues."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import define, field, frozen

from delayer.actions.ports import ReadsActions
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration
from delayer.engines.ports import Clock, Queue, Unavailable
from delayer.schedule.instants import SECOND, Millis

FRESH_FOR: Final[Millis] = 30 * SECOND  # a new type is known within a minute, also if a read fails once
ASKED_AGAIN: Final[Millis] = SECOND  # for an unknown type; who makes up types causes one read a second at most


@define(kw_only=True)
class RegisteredActions(Mapping[str, ActionType]):
    """The descriptions that the classes in force give, by type.

    Raises Unavailable only if they were never read. What was read before goes on to be used: a type is taken out much
    more rarely than a read fails.
    """

    clock: Clock
    action_rows: ReadsActions
    absent: Mapping[str, str] = field(factory=dict)  # types that could be offered here, and why they are not
    _read: Mapping[str, Registration] | None = field(default=None, init=False)
    _read_at: Millis = field(default=0, init=False)

    def __getitem__(self, kind: str) -> ActionType:
        return self.registration(kind).action

    def registration(self, kind: str) -> Registration:
        """The registration in force. Raises KeyError if there is none."""
        known = self._known()
        if kind not in known and self.clock.now() - self._read_at >= ASKED_AGAIN:
            known = self._read_anew()
        return known[kind]

    def registration_now(self, kind: str) -> Registration:
        """The same, read anew."""
        return self._read_anew()[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def _known(self) -> Mapping[str, Registration]:
        if self._read is None or self.clock.now() - self._read_at >= FRESH_FOR:
            return self._read_anew()
        return self._read

    def _read_anew(self) -> Mapping[str, Registration]:
        began = self.clock.now()
        try:
            self._read = {kind: registrations[-1] for kind, registrations in self.action_rows.actions().items()}
        except Unavailable:
            if self._read is None:
                raise
        self._read_at = began
        return self._read


@frozen(kw_only=True)
class ListActions:
    """The use case."""

    actions: RegisteredActions

    def __call__(self) -> Sequence[Registration]:
        """In the order of their names. Raises Unavailable."""
        registered = [self.actions.registration(kind) for kind in sorted(self.actions)]
        return [one for one in registered if not one.action.internal]


@frozen(kw_only=True)
class ExecutorQueues(Mapping[str, Queue]):
    """By type. The actions of other stacks share the queue of executor-remote.

    Raises Unavailable if no registration was ever read.
    """

    actions: RegisteredActions
    remote: str  # the URL of the queue of executor-remote
    queue_at: Callable[[str], Queue]  # of a URL

    def __getitem__(self, kind: str) -> Queue:
        return self.queue_at(self.actions.registration(kind).queue or self.remote)

    def __iter__(self) -> Iterator[str]:
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)
