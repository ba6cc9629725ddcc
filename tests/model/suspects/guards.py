"""Each rule of a message that comes back is taken out, one at a time. The search has to find what it prevents."""

from typing import Final

from delayer.recovery.rules import Trial
from delayer.schedule.instants import Millis
from tests.model.guard import Guard
from tests.model.suspects.rules import Rules
from tests.model.suspects.state import Budget


def _any_death_counts(before: Trial | None, passed: Millis | None) -> int:
    return before.proofs + 1 if before else 0


def _no_death_counts(before: Trial | None, passed: Millis | None) -> int:
    return 0


GUARDS: Final = (
    Guard(
        name="no receive count makes a suspect",
        what="what was only throttled is handled alone",
        without=Rules(suspected_after=3),
        possible=Budget(good=1, throttled=2),
    ),
    Guard(
        name="a run with what came back is noted",
        what="a killer takes its neighbours along again and again",
        without=Rules(has_come_back=lambda _: False),
        possible=Budget(killer=True, good=1),
    ),
    Guard(
        name="those beside a suspect go back",
        what="a suspect takes them along",
        without=Rules(apart=False),
        possible=Budget(killer=True, good=1),
    ),
    Guard(
        name="the end of a run is noted of what failed, too",
        what="an outage makes suspects",
        without=Rules(always_ends=False),
        possible=Budget(good=1, throttled=1, failures=1),
    ),
    Guard(
        name="a proof needs that others passed",
        what="a bad deploy, in which all die, makes a killer of a good message",
        without=Rules(proofs_against=_any_death_counts),
        possible=Budget(good=1, deaths=7),
    ),
    Guard(
        name="proofs give a killer up",
        what="a killer is tried for ever",
        without=Rules(proofs_against=_no_death_counts),
        possible=Budget(killer=True, good=0),
    ),
)
