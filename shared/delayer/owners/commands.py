"""The commands of an operator on owner policies. The function operator-owner-policy alone writes them (ADR 0107)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from delayer.actions.rules.model import ActionType
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.owners.admission import WrongPolicy
from delayer.owners.admission import admit as admit_policy
from delayer.owners.model import NO_POLICY, Allowed, Forbidden, OwnerPolicy, StoredOwnerPolicy, asked_by, decide
from delayer.owners.ports import DEFAULT, OwnerPolicies
from delayer.schedule.instants import Millis, format_instant
from delayer.schedule.schedule import MAX_KEY, MAX_OWNER, Definition

USAGE: Final = (
    'give {"command": "show" | "list"} or {"command": "set", "policy": {…}, "over": <revision, 0 for none>} '
    'or {"command": "remove", "over": <revision>} or {"command": "try", "schedule": "<the body of a POST>"}, each with '
    '"owner": "<owner>", empty or left out for the default, and "by": "<who you are>"'
)
MAX_BY: Final = 200
PAGE: Final = 100
COUNTS: Final = ("createsPerMinute", "liveSchedules", "series")  # rules about numbers of schedules


@frozen(kw_only=True)
class OwnerPolicyCommands:
    """One invocation."""

    clock: Clock
    owner_policy_rows: OwnerPolicies
    actions: Mapping[str, ActionType]  # by type
    read_request: Callable[[object, Millis], tuple[Definition, Millis]]  # the use case AsPosted
    counts_live: bool  # whether the stack counts live schedules
    observer: Observer

    def __call__(self, event: Any) -> dict[str, Any]:
        """{"ok": true, "result": …}, or {"ok": false, "error": a sentence}. Never raises for a wrong command."""
        given = event if isinstance(event, dict) else {}
        try:
            return {"ok": True, "result": self._command(given)(given, _owner_in(given))}
        except (WrongPolicy, Unavailable) as error:
            return {"ok": False, "error": str(error)}

    def _command(self, given: Mapping[str, Any]) -> Callable[[Mapping[str, Any], str], dict[str, Any]]:
        known = {"show": self._show, "list": self._list, "set": self._set, "remove": self._remove, "try": self._try}
        name = given.get("command")
        if name not in known:
            raise WrongPolicy(USAGE)
        return known[name]

    def _show(self, _: Mapping[str, Any], owner: str) -> dict[str, Any]:
        """Shows the policy that is stored for the owner, and what counts together with the default."""
        stored, default = self.owner_policy_rows.owner_policy(owner), self.owner_policy_rows.owner_policy(DEFAULT)
        own = stored.policy if stored and stored.policy else NO_POLICY
        counts = own.over(default.policy if default and default.policy else NO_POLICY)
        return {"owner": owner, **_shown(stored), "counts": _document(counts)}

    def _list(self, given: Mapping[str, Any], _: str) -> dict[str, Any]:
        """The default, and a page of the owners that have a policy of their own."""
        after = str(given.get("after", ""))
        names = [name for name in self.owner_policy_rows.owners_with_policy() if name > after]
        found = [(name, self.owner_policy_rows.owner_policy(name)) for name in names[:PAGE]]
        shown = [{"owner": name, **_shown(stored)} for name, stored in found if stored]
        more = {"next": names[PAGE - 1]} if len(names) > PAGE else {}
        return {"default": _shown(self.owner_policy_rows.owner_policy(DEFAULT)), "owners": shown, **more}

    def _set(self, given: Mapping[str, Any], owner: str) -> dict[str, Any]:
        over, by = _over_in(given), _by_in(given)
        if not over and len(owner.encode()) > MAX_OWNER:
            raise WrongPolicy(f"owner: a new policy is for a name of up to {MAX_OWNER} bytes")
        policy = admit_policy(given.get("policy"), self.actions.keys())
        if policy.at_most("liveSchedules") is not None and not self.counts_live:
            raise WrongPolicy("liveSchedules: the stack counts them only if its parameter MaxLiveSchedules is set")
        now = self.clock.now()
        new = StoredOwnerPolicy(policy=policy, revision=max(now, over + 1), changed_at=now, by=by)
        if not self.owner_policy_rows.write_owner_policy(owner, new, over):
            raise WrongPolicy(self._other(owner))
        self.observer.note("owner policy set", owner=owner, revision=new.revision, by=by)
        return self._show({}, owner)

    def _remove(self, given: Mapping[str, Any], owner: str) -> dict[str, Any]:
        over, by = _over_in(given), _by_in(given)
        if not self.owner_policy_rows.remove_owner_policy(owner, over):
            raise WrongPolicy(self._other(owner))
        self.observer.note("owner policy removed", owner=owner, revision=over, by=by)
        return self._show({}, owner)

    def _other(self, owner: str) -> str:
        """Somebody else was faster, or the command was made of something older."""
        stored = self.owner_policy_rows.owner_policy(owner)
        whose = f"the policy of {owner}" if owner else "the default"
        if not stored or not stored.revision:
            return f"nothing was changed: {whose} is not there (any more); show it, and give the revision 0"
        return f"nothing was changed: {whose} has the revision {stored.revision} by now; show it, and begin with that"

    def _try(self, given: Mapping[str, Any], owner: str) -> dict[str, Any]:
        """Whether a schedule or a series would be allowed, by `policy` if it is given, else by what counts now.

        How many there are is a matter of the moment of the call, which nobody knows; the answer names such rules.
        """
        policy = self._tried(given, owner)
        definition, due = self.read_request(given.get("schedule"), self.clock.now())
        ahead = max(due - self.clock.now(), 0) if due else 0
        decision = decide(policy, asked_by(definition, self.actions.get(definition.action_type), ahead))
        untried = [rule for rule in COUNTS if policy.at_most(rule) is not None]
        more = {"notTried": untried} if untried else {}
        return {"owner": owner, "counts": _document(policy), **_decided(decision), **more}

    def _tried(self, given: Mapping[str, Any], owner: str) -> OwnerPolicy:
        default = self.owner_policy_rows.owner_policy(DEFAULT)
        above = default.policy if default and default.policy else NO_POLICY
        if "policy" in given:
            asked = admit_policy(given["policy"], self.actions.keys())
            return asked.over(above) if owner else asked.over(NO_POLICY)
        stored = self.owner_policy_rows.owner_policy(owner)
        return (stored.policy if stored and stored.policy else NO_POLICY).over(above)


def _owner_in(given: Mapping[str, Any]) -> str:
    owner = given.get("owner", DEFAULT)
    if not isinstance(owner, str) or len(owner.encode("utf-8", "replace")) > MAX_KEY:
        raise WrongPolicy(f"owner: a text of up to {MAX_KEY:,} bytes")
    return owner.encode("utf-8", "replace").decode()


def _over_in(given: Mapping[str, Any]) -> int:
    over = given.get("over")
    if isinstance(over, bool) or not isinstance(over, int) or over < 0:
        raise WrongPolicy("over: the revision that is shown, or 0 if there is no policy yet; so that no change is lost")
    return over


def _by_in(given: Mapping[str, Any]) -> str:
    by = given.get("by", "")
    if not (isinstance(by, str) and by.isprintable() and len(by) <= MAX_BY):
        raise WrongPolicy(f"by: at most {MAX_BY} printable characters")
    return by


def _shown(stored: StoredOwnerPolicy | None) -> dict[str, Any]:
    if not stored or stored.policy is None:
        return {"policy": None, "revision": 0}
    shown = {"policy": _document(stored.policy), "revision": stored.revision}
    return {**shown, "changedAt": format_instant(stored.changed_at), **({"by": stored.by} if stored.by else {})}


def _document(policy: OwnerPolicy) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in policy.rules.items()}


def _decided(decision: Allowed | Forbidden) -> dict[str, Any]:
    match decision:
        case Allowed():
            return {"allowed": True}
        case Forbidden(rule=rule, field=field, allowed=allowed):
            return {"allowed": False, "rule": rule, "field": field, "reason": decision.reason, "ruleAllows": allowed}
