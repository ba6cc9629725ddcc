"""How long a function receives beside its batch."""

import pytest

from delayer.aws.runtime.deadline import MOST_MARGIN
from delayer.use_cases.flow.slots import PATIENCE
from delayer.wiring.executor import ATTEMPT, STOPS, Spread
from tests.cfn import functions

EXECUTORS = sorted(name for name in functions() if name.startswith("executor-"))


@pytest.mark.parametrize("name", EXECUTORS)
def test_each_function_receives_for_a_while_and_has_time_for_what_it_receives(name: str) -> None:
    """Else a target that hangs would keep it idle; or it would only give back."""
    earliest, latest = STOPS
    assert functions()[name]["Timeout"] - MOST_MARGIN - ATTEMPT > latest
    assert earliest * 1_000 > PATIENCE


def test_each_invocation_stops_at_another_time() -> None:
    spread = Spread()
    drawn = set()
    for _ in range(20):
        spread.begin()
        drawn.add(spread.seconds)
    assert len(drawn) == 20
    assert all(STOPS[0] <= seconds <= STOPS[1] for seconds in drawn)
