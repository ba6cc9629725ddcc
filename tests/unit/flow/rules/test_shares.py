"""How the attempts of one function are shared."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from delayer.flow.rules.gate import SLOTS, has_room


def filled(wishes: list[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """What runs if none of these, an owner and a target each, ever ends."""
    running: Counter[tuple[str, str]] = Counter()
    for owner, target in wishes:
        of_owner = sum(number for (one, _), number in running.items() if one == owner)
        if has_room(running[owner, target], of_owner, running.total()):
            running[owner, target] += 1
    return running


def test_one_dead_target_has_half() -> None:
    assert filled([("o", "t")] * 100).total() == SLOTS // 2


def test_a_batch_of_ten_for_one_target_waits_for_nothing() -> None:
    assert filled([("o", "t")] * 10).total() == 10


def test_each_further_dead_target_has_half_of_what_is_left() -> None:
    wishes = [(owner, "t") for owner in "abc" for _ in range(100)]
    assert list(filled(wishes).values()) == [10, 5, 3]


def test_fairness_cannot_be_bought_with_names_below_a_domain() -> None:
    """An owner with a thousand dead hosts leaves a fifth to the others."""
    running = filled([("o", f"{number}.example.com") for number in range(1_000)])
    assert running.total() == SLOTS * 4 // 5
    assert has_room(0, 0, running.total())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("tuv")), max_size=100))
def test_nobody_gets_more_than_its_share(wishes: list[tuple[str, str]]) -> None:
    running = filled(wishes)
    assert running.total() <= SLOTS
    assert all(number <= SLOTS // 2 for number in running.values())
    for owner in "abc":
        assert sum(number for (one, _), number in running.items() if one == owner) <= SLOTS * 4 // 5


@given(st.integers(0, SLOTS), st.integers(0, SLOTS), st.integers(0, SLOTS - 1))
def test_who_has_least_of_all_finds_room_while_anything_is_free(party: int, owner: int, running: int) -> None:
    assert has_room(0, 0, running)
    assert has_room(party, owner, running) == (party < SLOTS - running and owner < 4 * (SLOTS - running))
