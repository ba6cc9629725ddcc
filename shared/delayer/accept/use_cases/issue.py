"""Issues ids, and recognises the genuine ones: what all calls of the API share."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import define, field

from delayer.accept.rules.window import within
from delayer.actions.rules.model import ActionType, traits_of
from delayer.engines.ports import Clock, Unavailable
from delayer.records.ports import Control
from delayer.schedule.instants import Millis, minute_of
from delayer.schedule.schedule import NO_TRAITS, Definition, Schedule, Traits
from delayer.schedule.schedule_id import (
    RANDOM_BYTES,
    READ_AGAIN,
    IdKey,
    IdKeys,
    IdKind,
    Shards,
    address_for,
    is_genuine,
    mint,
)

if TYPE_CHECKING:
    from delayer.accept.rules.request import ScheduleRequest

CLOCK_MARGIN_MINUTES = 5  # the first writer's clock may be ahead of the next one's


@define(kw_only=True)
class IdCheck:
    """Recognises the genuine ids of one stack. Its keys are read once, and again when there may be a new one."""

    clock: Clock
    control: Control
    _keys: IdKeys = field(factory=IdKeys, init=False)
    _read_at: Millis = field(default=0, init=False)

    def is_genuine(self, schedule_id: str, owner: str) -> bool:
        """Whether this stack issued it to this owner.

        Nothing is read for one that is. For another one the keys are read if they were not read for minutes: there may
        be a new key, or a restore has put another one under the same version. So made-up ids cost one read in minutes.
        Raises Unavailable if the keys cannot be read.
        """
        try:
            if self._is_known(schedule_id, owner):
                return True
            if not self._may_be_old():
                return False
            self.read()
            return self._is_known(schedule_id, owner)
        except ValueError:
            return False

    def _is_known(self, schedule_id: str, owner: str) -> bool:
        """By the keys at hand. Raises ValueError for what is no id."""
        key = self._keys.of(schedule_id)
        return key is not None and is_genuine(schedule_id, owner, key=key.secret)

    def current(self) -> IdKey:
        """The key that makes new ids. Raises Unavailable if there is none yet, or if the first read fails."""
        if not self._keys.keys:
            self.read()
        elif self._may_be_old():
            with suppress(Unavailable):  # the key at hand is readable for years
                self.read()
        key = self._keys.at(self.clock.now())
        if key is None:
            raise Unavailable("there is no id key yet; operator-id-key makes it within a minute")
        return key

    def read(self) -> None:
        """Reads the keys. Raises Unavailable."""
        began = self.clock.now()
        self._keys, self._read_at = self.control.id_keys(), began

    def _may_be_old(self) -> bool:
        return not self._keys.keys or self.clock.now() - self._read_at >= READ_AGAIN


@define(kw_only=True)
class Ids:
    """Issues the ids of one stack."""

    clock: Clock
    control: Control
    check: IdCheck
    randomness: Callable[[int], bytes]  # n secure random bytes
    pick: Callable[[int], int]  # a number below n
    shards: int  # how many shards this writer spreads over
    actions: Mapping[str, ActionType]  # by type
    _raised: bool = field(default=False, init=False)

    def issue(self, request: "ScheduleRequest", owner: str, old: Traits = NO_TRAITS) -> Schedule:
        """The schedule that a request asks for. `old` are the traits of the one that it replaces."""
        return self.issue_for(request.point_in_time, request.definition, owner, old, request.kind)

    def issue_for(
        self,
        point_in_time: Millis,
        definition: Definition,
        owner: str,
        old: Traits = NO_TRAITS,
        kind: IdKind = IdKind.PLAIN,
    ) -> Schedule:
        """A new schedule with an id of its own, not stored yet. Raises Unavailable.

        With a window it is due within it; what waits for its time gets its place there together with that time. Before
        the first one, this writer's shards are put into the control row, where sweepers read them (ADR 0010).
        """
        if not self._raised:
            self._raise_shards()
        key, now = self.check.current(), self.clock.now()
        randomness = self.randomness(RANDOM_BYTES)
        if kind is IdKind.UNDECIDED:
            point_in_time = now  # it is filed by its acceptance
        else:
            point_in_time, definition = within(definition, point_in_time, randomness)
        address = address_for(point_in_time, now, self.pick(self.shards))
        schedule_id = mint(
            address,
            owner,
            point_in_time=point_in_time,
            key=key.secret,
            version=key.version,
            randomness=randomness,
            kind=kind,
        )
        return Schedule(
            id=schedule_id,
            owner=owner,
            point_in_time=point_in_time,
            created_at=now,
            definition=definition,
            traits=self.traits(definition, old),
        )

    def traits(self, definition: Definition, old: Traits = NO_TRAITS) -> Traits:
        """By its type as it is registered now; the old ones if that cannot be known."""
        try:
            action = self.actions.get(definition.action_type)
        except Unavailable:
            return old
        return traits_of(action, definition) if action else old

    def _raise_shards(self) -> None:
        """Read first: a thousand functions that start at once must not write to one item."""
        current, highest = self.control.shards(), self.shards - 1
        if current is None or current.highest < highest:
            since = minute_of(self.clock.now()) - CLOCK_MARGIN_MINUTES
            self.control.raise_shards(Shards(highest=highest, since=since))
        self._raised = True

    def is_genuine(self, schedule_id: str, owner: str) -> bool:
        """As IdCheck."""
        return self.check.is_genuine(schedule_id, owner)
