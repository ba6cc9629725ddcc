"""What the guard of a queue goes by, so that a rule can be taken out. The decisions are the code's own."""

from collections.abc import Callable

from attrs import frozen

from delayer.recovery import rules as trial
from delayer.schedule.instants import Millis


@frozen(kw_only=True)
class Rules:
    """Each of them is missed, if it is not there."""

    has_come_back: Callable[[int], bool] = trial.has_come_back
    proofs_against: Callable[[trial.Trial | None, Millis | None], int] = trial.proofs_against
    suspected_after: int = 0  # receives after which a message is a suspect, whatever happened to it; 0: none
    apart: bool = True  # those beside a suspect go back before it is handled
    always_ends: bool = True  # the end of a run is noted of what failed in it, too


REAL = Rules()


def proofs_of(rules: Rules, proofs: int, has_passed: bool) -> int:
    """How many runs count against a suspect of which one died, after as many `proofs`.

    `has_passed`: the function has ended others since.
    """
    before = trial.Trial(began=1, proofs=proofs)
    return min(rules.proofs_against(before, 1 if has_passed else 0), trial.PROOFS)
