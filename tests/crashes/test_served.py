"""`delayer serve` is killed under load, and whatever it promised holds. `make kills` does it 200 times."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from tests.crashes.killing import kill_often
from tests.crashes.served import DOUBLED, Arrival, Clients, Target, Wanted, served
from tests.crashes.trying import Broken

KILLS = 10


def killed(folder: Path, times: int) -> Clients:
    victim, clients = served(folder, times)
    with closing(clients.target):
        kill_often(victim, times)
    return clients


def test_nothing_is_lost_by_a_kill(tmp_path: Path) -> None:
    """It takes ten seconds, on a busy machine more: three lives of a process, and what is due comes to its end."""
    assert killed(tmp_path, 2).wanted


@pytest.mark.thorough
def test_nothing_is_lost_by_many_kills(tmp_path: Path) -> None:
    """Half a minute, on a busy machine more. Nothing after a true cancel either, and doubled is only what may be."""
    clients = killed(tmp_path, KILLS)
    assert clients.cancelled
    assert clients.target.life > KILLS
    assert {one.path for one in clients.target.arrivals} == {"/quick", "/slow", "/fails", "/refuses"}


# ------------------------------------------------------------ what the oracle finds

ONE = Wanted(number=1, path="/quick", due=1_000, is_far=False)
CAME = Arrival(id="a", attempt=1, key="a", path="/quick", number=1, at=1_000, life=1)


@pytest.fixture
def clients() -> Iterator[Clients]:
    with closing(Target()) as target:
        yield Clients(target=target, port=1, wanted={"a": ONE})


def test_an_attempt_that_was_under_way_may_be_made_again(clients: Clients) -> None:
    clients.target.arrivals = [CAME, evolve(CAME, life=2)]
    clients.check_arrivals()
    assert clients.doubled() == 1


@pytest.mark.parametrize(
    ("came", "why"),
    [
        ([evolve(CAME, at=999)], "early"),
        ([CAME, CAME], "twice in one life"),
        ([evolve(CAME, key="b")], "another idempotency key"),
        ([evolve(CAME, number=2)], "not what was asked for"),
        ([evolve(CAME, attempt=2)], "without a reason"),
    ],
)
def test_what_may_not_be_is_found(clients: Clients, came: list[Arrival], why: str) -> None:
    clients.target.arrivals = came
    with pytest.raises(Broken, match=why):
        clients.check_arrivals()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (lambda one: one.cancelled.add("a"), "was cancelled, and reached"),
        (lambda one: one.ended.update(a=0), "had ended, and reached its target again"),
        (lambda one: one.ended.update(b=0), "never reached its target"),
    ],
)
def test_what_does_not_go_with_an_answer_is_found(clients: Clients, said: Callable[[Clients], None], why: str) -> None:
    clients.target.arrivals = [CAME]
    said(clients)
    with pytest.raises(Broken, match=why):
        clients.check_arrivals()


def test_that_more_is_made_again_than_may_be_is_found(clients: Clients) -> None:
    many = [evolve(CAME, id=str(number), key=str(number)) for number in range(DOUBLED + 1)]
    clients.target.arrivals = [*many, *(evolve(one, life=2) for one in many[1:])]
    clients.check_arrivals()
    clients.target.arrivals.append(evolve(many[0], life=2))
    with pytest.raises(Broken, match="were repeated after one kill"):
        clients.check_arrivals()


def test_one_id_for_two_keys_is_found(clients: Clients) -> None:
    with pytest.raises(Broken, match="was answered to number 2"):
        clients.has(evolve(ONE, number=2), {"scheduleId": "a"})
