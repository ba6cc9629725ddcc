"""What waits in the delayer queue for its turn at a target, because of a limit or a comeback, keeps the turn it has."""

from itertools import pairwise
from typing import Any

import pytest

from delayer.actions.rules.model import Done, Result, Retry
from delayer.schedule.instants import MINUTE, SECOND, Millis
from tests.unit.serve.machines import Running

TARGET = "example.com"


class Target:
    """Answers, or is dead."""

    def __init__(self) -> None:
        self.is_dead = False
        self.reached: list[tuple[Millis, str]] = []
        self.running = Running(targets=lambda _: self)

    def __call__(self, message: Any) -> Result:
        self.reached.append((self.running.clock.now(), message.schedule.id))
        return Retry(detail="no answer", is_outage=True) if self.is_dead else Done("done")

    def operate(self, **event: str) -> None:
        """As an operator's command does."""
        job: list[Any] = []
        handler = self.running.machine.function("operator-flow").handler
        self.running.machine.turns.begin()
        self.running.machine.turns.do(lambda: handler(event, None), job.append)
        self.running.machine.turns.end()
        assert job[0]["ok"], job

    def times_of(self, schedule_id: str) -> list[Millis]:
        return [at for at, one in self.reached if one == schedule_id]


@pytest.mark.parametrize("number", [1, 2, 7])
def test_what_a_suspension_has_made_wait_fires_at_the_rate_of_a_limit(number: int) -> None:
    """One by one, with a second between them. One that booked a turn at each look would never have it."""
    target = Target()
    running = target.running
    target.operate(command="suspend", target=TARGET, reason="a test", by="eve")
    target.operate(command="limit", target=TARGET, rate="60/m", by="eve")
    running.run(3 * SECOND)
    ids = [running.schedule(1) for _ in range(number)]
    running.run(10 * SECOND)
    target.operate(command="release", target=TARGET, by="eve")
    running.run(MINUTE)
    assert sorted(one for _, one in target.reached) == sorted(ids), "each once"
    times = [at for at, _ in target.reached]
    assert all(SECOND <= after - before <= 8 * SECOND for before, after in pairwise(times))
    assert running.database.read("SELECT count(*) FROM messages WHERE queue = 'delayer'", ()) == [(0,)]


def test_one_that_comes_back_alone_has_its_turn_within_the_spread_of_the_outage() -> None:
    """Its target was dead for a few seconds, and answers all others before it asks."""
    target = Target()
    running = target.running
    target.is_dead = True
    for _ in range(20):
        running.schedule(1)
    running.run(2 * SECOND)
    late = running.schedule(3)
    running.run(7 * SECOND)
    target.is_dead = False
    back = running.clock.now()
    running.run(MINUTE)
    assert [at - back <= 40 * SECOND for at in target.times_of(late)] == [True]
