"""Conditions that are decided when a template is packaged: those that look only at what is settled there (ADR 0172).

A resource whose condition is false then is not in the template at all, so it is none of the 500 that a stack may have.
Where a condition asks for something settled and for something else, the other is what is left of it.
"""

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from operate.deploy.errors import TemplateError

NOTHING: Final = {"Ref": "AWS::NoValue"}
CONDITIONED: Final = ("Resources", "Outputs")
_GONE: Final = object()  # what a decision has left nothing of

Outcome = bool | str | None  # decided; or the same as another condition, by its name; or neither


def without_decided(template: Mapping[str, Any]) -> dict[str, Any]:
    """The same, without what is not there and without a condition on what is. Errors: TemplateError."""
    decisions = _decisions(template.get("Conditions", {}))
    if not decisions.outcomes:
        return dict(template)
    kept = {key: decisions.chosen(value) for key, value in template.items() if key not in CONDITIONED}
    kept["Conditions"] = {name: one for name, one in decisions.left.items() if name not in decisions.outcomes}
    for section in CONDITIONED:
        if section in template:
            kept[section] = {
                name: decisions.conditioned(decisions.chosen(one))
                for name, one in template[section].items()
                if decisions.has(one)
            }
    for one in kept.get("Resources", {}).values():
        if isinstance(one.get("DependsOn"), list):  # in which the template can have no Fn::If
            one["DependsOn"] = [name for name in one["DependsOn"] if decisions.has(template["Resources"].get(name))]
    return kept


def _decisions(conditions: Mapping[str, Any]) -> "_Decisions":
    """In rounds: a condition may look at others."""
    decisions = _Decisions(outcomes={}, left=dict(conditions))
    while True:
        left = {name: decisions.simpler(one) for name, one in decisions.left.items()}
        outcomes = {name: outcome for name, one in left.items() if (outcome := _outcome(one)) is not None}
        if outcomes == decisions.outcomes and left == decisions.left:
            return decisions
        decisions = _Decisions(outcomes=outcomes, left=left)


def _outcome(condition: Any) -> Outcome:
    match condition:
        case bool():
            return condition
        case {"Condition": str(name)}:
            return name
    return None


@frozen(kw_only=True)
class _Decisions:
    """The conditions of a template that are decided."""

    outcomes: Mapping[str, Outcome]
    left: Mapping[str, Any]  # what is left of each condition

    def simpler(self, condition: Any) -> Any:
        """True, False, or what is left of it. Of an And and an Or what is left has two parts or more."""
        match condition:
            case {"Condition": str(name)}:
                outcome = self.outcomes.get(name)
                return {"Condition": outcome} if isinstance(outcome, str) else condition if outcome is None else outcome
            case {"Fn::Equals": [str(one), str(other)]}:
                return one == other
            case {"Fn::Not": [one]}:
                inner = self.simpler(one)
                return not inner if isinstance(inner, bool) else {"Fn::Not": [inner]}
            case {"Fn::And": [*parts]}:
                return _joined("Fn::And", [self.simpler(part) for part in parts], ends_it=False)
            case {"Fn::Or": [*parts]}:
                return _joined("Fn::Or", [self.simpler(part) for part in parts], ends_it=True)
        return condition

    def has(self, one: Any) -> bool:
        """Whether it is there. What nobody has written is for CloudFormation to refuse."""
        return self.outcomes.get(_condition_of(one)) is not False

    def conditioned(self, one: dict[str, Any]) -> dict[str, Any]:
        """With the condition that is left, if one is."""
        outcome = self.outcomes.get(_condition_of(one))
        if outcome is None:
            return one
        kept = {"Condition": outcome} if isinstance(outcome, str) else {}
        return {key: value for key, value in one.items() if key != "Condition"} | kept

    def chosen(self, node: Any) -> Any:
        """Chooses one of the two values of each Fn::If about something known."""
        if isinstance(node, list):
            return [one for one in map(self.chosen, node) if one is not _GONE]
        if not isinstance(node, dict):
            return node
        if set(node) == {"Fn::If"}:
            return self._of_two(node["Fn::If"])
        made = {key: self.chosen(value) for key, value in node.items()}
        return {key: value for key, value in made.items() if value is not _GONE}

    def _of_two(self, argument: Any) -> Any:
        match argument:
            case [str(name), yes, no]:
                outcome = self.outcomes.get(name)
                if isinstance(outcome, bool):
                    one = yes if outcome else no
                    return _GONE if one == NOTHING else self.chosen(one)
                # Each keeps its place: CloudFormation chooses between them.
                both = [NOTHING if one is _GONE else one for one in (self.chosen(yes), self.chosen(no))]
                return {"Fn::If": [outcome or name, *both]}
        raise TemplateError(f"Fn::If has {argument}, which is not a condition and two values.")


def _joined(function: str, parts: list[Any], *, ends_it: bool) -> Any:
    """`ends_it`: the value of one part that decides of all."""
    if ends_it in parts:
        return ends_it
    left = [part for part in parts if not isinstance(part, bool)]
    if len(left) > 1:
        return {function: left}
    return left[0] if left else not ends_it


def _condition_of(one: Any) -> str:
    return str(one.get("Condition", "")) if isinstance(one, Mapping) else ""
