"""Terms of a rule that need none of its arithmetic, which is slow to import: what is done about missed times, and what
is wrong with a rule: the field, the reason, and an example of what is right.
"""

from collections.abc import Iterable
from enum import StrEnum

from attrs import frozen


class OnMissed(StrEnum):
    """Decides about the times that pass while nothing can be scheduled."""

    SKIP = "skip"
    ONCE = "once"  # the last of them is made up
    ALL = "all"


@frozen(kw_only=True)
class RuleFault:
    """One wrong field."""

    field: str  # a path within `repeat`, like `dst.gap`; empty for the rule as a whole
    problem: str  # the reason
    allowed: str  # what is allowed, with an example


class BadRule(ValueError):
    """No rule can be made of this. It names every field that is wrong."""

    def __init__(self, faults: Iterable[RuleFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{fault.field or 'repeat'}: {fault.problem}" for fault in self.faults))


class BadText(ValueError):
    """One text of a rule is wrong. Its first argument is the reason, its second what is allowed."""

    def __init__(self, problem: str, allowed: str) -> None:
        self.problem = problem
        self.allowed = allowed
        super().__init__(problem)
