"""The registered action types, read anew before they are a minute old."""

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import define, field

from delayer.core.actions.action_type import ActionType
from delayer.core.actions.registration import Registration
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.actions import ReadsActions
from delayer.ports.clock import Clock
from delayer.ports.unavailable import Unavailable

FRESH_FOR: Final[Millis] = 30 * SECOND  # a new type is known within a minute, also if a read fails once
ASKED_AGAIN: Final[Millis] = SECOND  # for an unknown type; who makes up types causes one read a second at most


@define(kw_only=True)
class RegisteredActions(Mapping[str, ActionType]):
    """What the class in force says, by type.

    Raises Unavailable only if they were never read. What was read before goes on to be used: a type is taken out much
    more rarely than a read fails.
    """

    clock: Clock
    store: ReadsActions
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
            self._read = {kind: registrations[-1] for kind, registrations in self.store.actions().items()}
        except Unavailable:
            if self._read is None:
                raise
        self._read_at = began
        return self._read
