"""Lives of the engine on one folder, and messages with which they may have died."""

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Done, Result, Retry
from delayer.schedule.instants import MINUTE, SECOND, Malformed, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.serve.suspects.lives import (
    KEPT,
    KILLS,
    LONGEST,
    PAUSE,
    Care,
    ChildDied,
    LifeNote,
    care_for,
    judged,
    pause_before,
)
from tests.unit.serve.world import START, World

KILLER = "kills"


class LifeEnds(BaseException):
    """The process is gone."""


class Around:
    """Plays lives: the target of a killer ends one, and its child if it has one."""

    def __init__(self, path: str, power_cuts: Iterator[bool] | None = None) -> None:
        self.world = World(path=path, target=self.target)
        self.power_cuts = power_cuts or iter(())
        self.alone: list[tuple[str, int]] = []  # with how many others were under way
        self.lives = 1
        self._lend()

    def _lend(self) -> None:
        self.world.machine.alone = self.attempt_alone

    def target(self, message: ExecutorMessage) -> Result:
        if self.is_killer(message):
            raise LifeEnds
        if next(self.power_cuts, False):
            raise LifeEnds  # after it was reached, and before its outcome is on the disk
        return Done("done")

    def is_killer(self, message: ExecutorMessage) -> bool:
        return bool(json.loads(message.schedule.definition.payload or "null") == KILLER)

    def attempt_alone(self, _kind: str, message: ExecutorMessage, seconds: float) -> Result:
        assert seconds
        others = sum(one.desk.number for one in self.world.machine.executors.values()) - 1
        self.alone.append((message.schedule.id, others))
        self.world.reached.append((message.schedule.id, self.world.clock.now()))
        if next(self.power_cuts, False):
            raise LifeEnds
        return judged(lambda: ChildDied("signal 11") if self.is_killer(message) else Done("done"))

    def run(self, until: Millis) -> None:
        """From life to life."""
        while True:
            try:
                self.world.run_until(until)
            except LifeEnds:
                self.begin()
            else:
                return

    def begin(self) -> None:
        self.world, self.lives = self.world.next_life(), self.lives + 1
        self._lend()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a.db")


def notes(world: World) -> list[tuple[int, int]]:
    return [(life, lives) for life, lives in world.machine.database.read("SELECT life, lives FROM notes", ())]


def test_each_life_has_a_number_that_is_on_the_disk_before_anything_else(path: str) -> None:
    world = World(path=path)
    numbers = [world.machine.lives.number]
    for _ in range(3):
        world = world.next_life()
        numbers.append(world.machine.lives.number)
        assert world.machine.database.read("SELECT max(number) FROM lives", ()) == [(numbers[-1],)]
    assert numbers == [1, 2, 3, 4]


def test_only_the_last_lives_are_kept(path: str) -> None:
    """It takes a second: a hundred lives."""
    world = World(path=path)
    for _ in range(KEPT + 5):
        world.machine.lives.begin()
    [(number, first)] = world.machine.database.read("SELECT count(*), min(number) FROM lives", ())
    assert (number, first) == (KEPT, 7)


def test_nothing_is_noted_while_all_goes_well(path: str) -> None:
    around = Around(path)
    for _ in range(5):
        around.world.post(START + SECOND)
    around.world.machine.lives.end()
    around.begin()
    around.run(START + MINUTE)
    assert len(around.world.reached) == 5
    assert notes(around.world) == []
    assert not around.alone


def test_a_killer_ends_two_lives_and_three_children_and_is_a_dead_letter(path: str) -> None:
    around = Around(path)
    killer = around.world.post(START + SECOND, payload=KILLER)
    innocents = [around.world.post(START + SECOND) for _ in range(3)]
    later = around.world.post(START + 2 * SECOND)
    around.run(START + MINUTE)
    assert around.lives == 3
    assert around.world.state(killer) == "dead-lettered"
    reason = json.loads(around.world.call("api-schedule-get", id=killer).body)["detail"]
    assert reason == f"its attempt has ended its process {KILLS} times, in which nothing else was done: signal 11"
    assert {around.world.state(one) for one in (*innocents, later)} == {"executed"}
    assert (killer, 0) in around.alone
    assert notes(around.world) == []


@pytest.mark.parametrize("seed", range(30))
def test_power_cuts_at_any_attempt_condemn_nobody_and_lose_nothing(path: str, seed: int) -> None:
    pick = random.Random(seed)
    cuts = [True] * pick.randrange(1, 7) + [False] * 40
    pick.shuffle(cuts)
    around = Around(path, iter(cuts))
    killers = [around.world.post(START + SECOND, payload=KILLER) for _ in range(pick.randrange(2))]
    others = [around.world.post(START + pick.randrange(1, 4) * SECOND) for _ in range(8)]
    around.run(START + 10 * MINUTE)
    assert {around.world.state(one) for one in others} == {"executed"}
    assert {around.world.state(one) for one in killers} <= {"dead-lettered"}
    assert all(number == 0 for _, number in around.alone), "nothing else is attempted meanwhile"
    attempts = [one for one, _ in around.world.reached if one in others]
    assert len(attempts) <= len(others) + sum(cuts) * len(others)
    assert notes(around.world) == []


def test_after_one_death_all_are_noted_before_they_begin_and_after_two_each_is_alone(path: str) -> None:
    cuts = iter([True, True, False, False, False])
    around = Around(path, cuts)
    ids = [around.world.post(START + SECOND) for _ in range(2)]
    with pytest.raises(LifeEnds):
        around.world.run_until(START + MINUTE)
    around.begin()
    assert notes(around.world) == []
    with pytest.raises(LifeEnds):
        around.world.run_until(START + MINUTE)
    assert sorted(notes(around.world)) == [(2, 1), (2, 1)]
    around.begin()
    assert sorted(notes(around.world)) == [(2, 2), (2, 2)]
    around.run(START + 2 * MINUTE)
    assert sorted(around.alone) == sorted((one, 0) for one in ids)


def test_what_came_after_a_death_is_not_suspected_of_it(path: str) -> None:
    around = Around(path, iter([True, False, True]))
    around.world.post(START + SECOND)
    with pytest.raises(LifeEnds):
        around.world.run_until(START + MINUTE)
    around.begin()
    around.run(START + 2 * SECOND)
    around.world.post(around.world.clock.now() + SECOND)
    with pytest.raises(LifeEnds):
        around.world.run_until(START + MINUTE)
    assert notes(around.world) == []
    around.begin()
    around.run(START + 2 * MINUTE)
    assert not around.alone


def test_a_suspect_whose_attempt_fails_is_a_suspect_no_more(path: str) -> None:
    """Its next attempt is another message: no life has died with that."""
    around = Around(path, iter([True, True]))
    one = around.world.post(START + SECOND)
    fails = iter([Retry(detail="HTTP 500")])
    whole = around.attempt_alone
    around.attempt_alone = lambda *asked: (whole(*asked), next(fails))[1]  # type: ignore[method-assign]
    around.run(START + SECOND * 2)
    assert len(around.alone) == 1
    around.run(START + 10 * MINUTE)
    assert around.world.state(one) == "executed"
    assert len(around.alone) == 1


def test_a_suspect_that_could_not_be_attempted_comes_again_alone(path: str) -> None:
    around = Around(path, iter([True, True]))
    one = around.world.post(START + SECOND)
    tries: list[Millis] = []

    def attempt(*_: object) -> Result:
        tries.append(around.world.clock.now())
        if len(tries) < 4:
            raise NotAttempted("no process for it")
        return Done("done")

    around.attempt_alone = attempt  # type: ignore[method-assign, assignment]
    around.run(START + MINUTE)
    assert around.world.state(one) == "executed"
    assert [later - sooner for sooner, later in pairwise(tries)] == [SECOND, 2 * SECOND, 4 * SECOND]


def test_the_others_come_first_if_a_life_has_died_with_a_suspect_alone(path: str) -> None:
    around = Around(path, iter([True, True, True]))
    suspect = around.world.post(START + SECOND)
    around.world.machine.turn()
    other = around.world.post(START + 2 * SECOND)
    around.run(START + MINUTE)
    order = [one for one, _ in around.world.reached]
    assert order == [suspect, suspect, suspect, other, suspect]
    assert around.world.reached[-1][1] - around.world.reached[-3][1] >= PAUSE


def test_suspects_have_half_of_the_time(path: str) -> None:
    around = Around(path, iter([True, True]))
    ids = [around.world.post(START + SECOND) for _ in range(4)]
    after = [around.world.post(START + 5 * SECOND + at) for at in range(4)]
    whole = around.attempt_alone

    def attempt(kind: str, message: ExecutorMessage, seconds: float) -> Result:
        around.world.clock.at += 10 * SECOND
        return whole(kind, message, seconds)

    around.attempt_alone = attempt  # type: ignore[method-assign, assignment]
    around.run(START + 5 * MINUTE)
    assert {around.world.state(one) for one in (*ids, *after)} == {"executed"}
    order = [one for one, _ in around.world.reached]
    last_suspect = max(order.index(one, 2) for one in ids if one in order[2:])
    assert all(order.index(one) < last_suspect for one in after), "they did not wait for all suspects"


def test_a_life_that_ends_by_itself_makes_nobody_a_suspect(path: str) -> None:
    around = Around(path)
    for _ in range(6):
        around.world.post(START + SECOND)
        around.world.clock.at += SECOND
        around.world.machine.turn()  # handed over, and not begun
        around.world.machine.lives.end()
        around.begin()
    around.run(START + MINUTE)
    assert not around.alone
    assert notes(around.world) == []


def test_the_pause_grows() -> None:
    assert [pause_before(lives) for lives in (1, 2, 3, 4, 5)] == [0, 0, PAUSE, 2 * PAUSE, 4 * PAUSE]
    assert pause_before(100) == LONGEST


def test_care() -> None:
    assert care_for(None, was_there=False) is Care.NONE
    assert care_for(None, was_there=True) is Care.NOTED
    assert care_for(LifeNote(life=1, lives=1), was_there=False) is Care.NOTED
    assert care_for(LifeNote(life=1, lives=2), was_there=False) is Care.ALONE


def test_three_deaths_are_needed() -> None:
    with pytest.raises(Malformed):
        judged(lambda: ChildDied("signal 9"))
