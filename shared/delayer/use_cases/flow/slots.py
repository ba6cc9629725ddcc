"""The attempts that are under way in one execution environment."""

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock, local
from typing import Final

from attrs import field, frozen

from delayer.core.flow.party import Party
from delayer.core.flow.shares import SLOTS, has_room
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.clock import Clock

PATIENCE: Final[Millis] = SECOND  # for a slot: targets that answer give theirs back by then
STEP: Final[Millis] = 20


class Crowded(Exception):
    """Too many attempts at this target, or of this owner, are under way already."""


@frozen(kw_only=True)
class Slots:
    """They cost nothing: each environment sees to its own."""

    clock: Clock
    _begun: "dict[object, Party]" = field(factory=dict, init=False)
    _waiting: "dict[object, Millis]" = field(factory=dict, init=False)  # since when: for a target, or for a turn
    _expected: set[object] = field(factory=set, init=False)  # attempts that are on their way to a slot
    _here: local = field(factory=local, init=False, repr=False, eq=False)  # the one of this thread, if it has one
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    @contextmanager
    def one(self, party: Party) -> Iterator[None]:
        """A slot for one attempt. Raises Crowded."""
        attempt = object()
        give_up = self.clock.now() + PATIENCE
        while not self._take(attempt, party):
            if self.clock.now() >= give_up:
                raise Crowded
            self.clock.sleep_until(self.clock.now() + STEP)
        try:
            yield
        finally:
            with self._lock:
                del self._begun[attempt]

    def _take(self, attempt: object, party: Party) -> bool:
        with self._lock:
            running = Counter(self._begun.values())
            of_owner = sum(number for one, number in running.items() if one.owner == party.owner)
            if not has_room(running[party], of_owner, len(self._begun)):
                return False
            self._begun[attempt] = party
            self._expected.discard(getattr(self._here, "expected", None))
            return True

    def expect(self) -> AbstractContextManager[None]:
        """From now on a slot is wanted by whoever enters this, until it has one, or leaves without."""
        expected = object()
        with self._lock:
            self._expected.add(expected)
        return self._until_it_has_one(expected)

    @contextmanager
    def _until_it_has_one(self, expected: object) -> Iterator[None]:
        self._here.expected = expected
        try:
            yield
        finally:
            self._here.expected = None
            with self._lock:
                self._expected.discard(expected)

    @contextmanager
    def kept_waiting(self) -> Iterator[None]:
        """By a target, or until a turn at one: nothing here makes it any shorter, and the batch waits for it, too.

        The ledger is not waited for in here: if it is slow, whatever else is received would be as slow.
        """
        attempt = object()
        with self._lock:
            self._waiting[attempt] = self.clock.now()
        try:
            yield
        finally:
            with self._lock:
                del self._waiting[attempt]

    def free(self) -> int:
        """How many are free, and not wanted by what was received already."""
        with self._lock:
            return SLOTS - len(self._begun) - len(self._expected)

    def longest(self) -> Millis:
        """How long the oldest has been waiting; 0 if there is none."""
        with self._lock:
            oldest = min(self._waiting.values(), default=None)
        return 0 if oldest is None else self.clock.now() - oldest
