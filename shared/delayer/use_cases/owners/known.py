"""The owner policies as they are known: read anew after ten seconds, by each execution environment for itself."""

from collections import OrderedDict
from threading import Lock
from typing import Final

from attrs import define, field, frozen

from delayer.core.owners.owner_policy import NO_POLICY, OwnerPolicy, StoredOwnerPolicy
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.schedule import SYSTEM_OWNER
from delayer.ports.clock import Clock
from delayer.ports.owner_policies import DEFAULT, ReadsOwnerPolicies

FRESH_FOR: Final[Millis] = 10 * SECOND
OWNERS: Final = 1_000  # that are kept


@frozen(kw_only=True)
class _Read:
    stored: StoredOwnerPolicy | None
    at: Millis

    @property
    def policy(self) -> OwnerPolicy:
        return self.stored.policy if self.stored and self.stored.policy else NO_POLICY


@define(kw_only=True)
class KnownOwnerPolicies:
    """Port KnowsOwnerPolicies.

    The default says whether any owner has a policy of its own: until then, its row is the only one that is read.
    """

    clock: Clock
    store: ReadsOwnerPolicies
    _known: OrderedDict[str, _Read] = field(factory=OrderedDict, init=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def of(self, owner: str) -> OwnerPolicy:
        """Nothing is read twice, however many ask at the same time. Raises Unavailable.

        What was read before counts for ten seconds, and no longer: what an operator has forbidden is not done because
        a table does not answer. Delayer's own schedules have no policy.
        """
        if owner == SYSTEM_OWNER:
            return NO_POLICY
        with self._lock:
            default = self._read(DEFAULT)
            if not (default.stored and default.stored.has_owners):
                return NO_POLICY.over(default.policy)
            return self._read(owner).policy.over(default.policy)

    def _read(self, owner: str) -> _Read:
        began, known = self.clock.now(), self._known.get(owner)
        if known is None or began - known.at >= FRESH_FOR:
            known = self._known[owner] = _Read(stored=self.store.owner_policy(owner), at=began)
            while len(self._known) > OWNERS + 1:
                self._known.popitem(last=False)
        self._known.move_to_end(owner)
        return known
