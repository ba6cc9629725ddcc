"""The owner policies as an execution environment knows them, read anew after ten seconds; and what is asked of them."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final

from attrs import define, field, frozen

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import ActionType, Refused
from delayer.engines.ports import Clock, Unavailable
from delayer.owners.model import (
    NO_POLICY,
    Forbidden,
    NotAllowed,
    OwnerPolicy,
    StoredOwnerPolicy,
    asked_by,
    asked_by_url,
    decide,
)
from delayer.owners.ports import DEFAULT, KnowsOwnerPolicies, OwnerPolicies
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.schedule import SYSTEM_OWNER

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
    """Remembers for some seconds what counts for an owner.

    The default says whether any owner has a policy of its own: until then, its row is the only one that is read.
    """

    clock: Clock
    owner_policy_rows: OwnerPolicies
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
            known = self._known[owner] = _Read(stored=self.owner_policy_rows.owner_policy(owner), at=began)
            while len(self._known) > OWNERS + 1:
                self._known.popitem(last=False)
        self._known.move_to_end(owner)
        return known


@frozen(kw_only=True)
class Permit:
    """For one executor. `action_of` gives what its class says, by type; None if nothing is known of it."""

    owner_policies: KnowsOwnerPolicies
    action_of: Callable[[str], ActionType | None]

    def __call__(self, message: ExecutorMessage) -> Refused | None:
        """Why the target must not be reached; None: it may. Raises NotAttempted if nobody can tell: it waits."""
        schedule = message.schedule
        try:
            policy = self.owner_policies.of(schedule.owner)
            if not policy.rules:
                return None
            action = self.action_of(schedule.definition.action_type)
        except Unavailable as error:
            raise NotAttempted(f"the owner policy is not known: {error}") from error
        decision = decide(policy, asked_by(schedule.definition, action))
        return Refused(decision.reason, reached=False) if isinstance(decision, Forbidden) else None


@frozen(kw_only=True)
class Reach:
    """For calls about connections, and for whoever fetches their tokens."""

    owner_policies: KnowsOwnerPolicies

    def permit(self, owner: str, url: str, field: str) -> None:
        """`field` is where the URL stands in the request. Raises NotAllowed, or Unavailable if AWS failed."""
        if forbidden := self.forbidden(owner, url, field):
            raise NotAllowed(forbidden)

    def forbidden(self, owner: str, url: str, field: str) -> Forbidden | None:
        """The rule that is against it. Raises Unavailable if AWS failed."""
        policy = self.owner_policies.of(owner)
        decision = decide(policy, asked_by_url(url, field)) if policy.rules else None
        return decision if isinstance(decision, Forbidden) else None
