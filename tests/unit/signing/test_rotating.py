"""Rotations search-tested: whatever is rotated when, and whatever executors know of it, each receiver verifies.

A receiver holds the one secret that `GET /signing-secret` showed as current at some moment. Until the end that a
rotation gave it, it verifies each request; from then on, none.
"""

from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from delayer.schedule.instants import DAY, HOUR, MINUTE, Millis
from delayer.signing.rules import CURRENT_AFTER, LONGEST_OVERLAP, NEXT_AFTER, SHORTEST_OVERLAP, USABLE, NotRotated
from tests.tables import preceded
from tests.unit.signing.receivers import OWNER, TICK, Scene, a_message, is_signed_by

EVENTS: dict[str, Any] = {
    "owner, short": lambda scene: scene.rotate(SHORTEST_OVERLAP),
    "owner, an hour": lambda scene: scene.rotate(HOUR),
    "the stack": lambda scene: scene.rotate_key(HOUR),
}
GAPS = [0, 4, 9]  # ticks; eight of them are ten minutes
DISTANCES = [  # and at least so many attempts
    ((0, 3, 4, 7, 8, 9, 15, 21), 1_800),
    pytest.param(range(22), 5_000, marks=pytest.mark.thorough),
]
PAIRS = [[(0, 9), (4, 4)], pytest.param([*product(GAPS, repeat=2)], marks=pytest.mark.thorough)]


def play(*steps: tuple[int, str]) -> Scene:
    """Each event after so many ticks; and then until all that was said of ends has come true."""
    scene = Scene()
    for ticks, event in steps:
        for _ in range(ticks):
            scene.tick()
        EVENTS[event](scene)
    last = max((held.until for held in scene.held.values() if held.until), default=0)
    while scene.clock.now() <= last + USABLE + TICK:
        scene.tick()
    scene.show()
    assert [held.until for held in scene.held.values()].count(None) == 1, "all others have ended"
    return scene


@pytest.mark.parametrize("events", list(product(EVENTS, repeat=2)), ids=" then ".join)
@pytest.mark.parametrize(("gaps", "least"), DISTANCES, ids=["some", "all"])
def test_two_rotations_at_any_distance(events: tuple[str, str], gaps: Iterable[int], least: int) -> None:
    """Whichever of them is first. All distances take three seconds: each play is a day of requests."""
    assert sum(play((5, events[0]), (gap, events[1])).attempts for gap in gaps) > least


@pytest.mark.parametrize("events", list(product(EVENTS, repeat=3)), ids=" then ".join)
@pytest.mark.parametrize("gaps", PAIRS, ids=["some", "all"])
def test_three_rotations(events: tuple[str, str, str], gaps: Iterable[tuple[int, int]]) -> None:
    """The middle one is both older and newer. All distances take about a second."""
    for first, second in gaps:
        play((1, events[0]), (first, events[1]), (second, events[2]))


@settings(max_examples=30, deadline=None)
@given(some.lists(some.tuples(some.integers(0, 30), some.sampled_from(sorted(EVENTS))), max_size=8))
def test_any_number_of_rotations(steps: list[tuple[int, str]]) -> None:
    """At any distances. It takes some seconds: up to eight rotations, thirty times."""
    play(*steps)


# ------------------------------------------------------------ two at the same time


@pytest.mark.parametrize("has_rotated", [False, True])
def test_of_two_rotations_at_once_one_is_refused(has_rotated: bool) -> None:
    scene = Scene()
    scene.tick()
    if has_rotated:
        scene.rotate(HOUR)
        scene.clock.move(NEXT_AFTER)
    between = preceded(scene.rows, lambda: scene.rotate(2 * HOUR))
    scene.clock.move(1)
    version = scene.rows.rotation(OWNER).version
    assert not scene.rotate(SHORTEST_OVERLAP, lambda: scene.own(between).rotate(OWNER, SHORTEST_OVERLAP))
    assert scene.rows.rotation(OWNER).version == version + 1
    assert scene.rows.rotation(OWNER).before[-1].signs_until == scene.clock.now() + 2 * HOUR
    for _ in range(60):
        scene.tick()


def test_the_stack_may_rotate_in_the_middle_of_a_rotation() -> None:
    """Or become current: neither of the two rows says anything of the other.

    It takes a second: each of the four is two hours of requests.
    """
    for later in (0, CURRENT_AFTER - 1, CURRENT_AFTER, CURRENT_AFTER + 1):
        scene = Scene()
        scene.tick()
        scene.rotate_key(HOUR)
        scene.clock.move(later)
        between = preceded(scene.rows, partial(scene.rotate_key, 2 * HOUR))
        assert scene.rotate(HOUR, partial(scene.own(between).rotate, OWNER, HOUR))
        for _ in range(100):
            scene.tick()


# ------------------------------------------------------------ a lost answer, a stolen secret


def test_a_repeat_after_a_lost_answer_takes_nothing_away() -> None:
    """It is refused for ten minutes. Later it is another rotation, after which all promises hold."""
    scene = Scene()
    scene.tick()
    assert scene.rotate(DAY)
    for _ in range(NEXT_AFTER // TICK):
        assert not scene.rotate(DAY)
        scene.tick()
    first = next(iter(scene.held.values()))
    end = first.until
    assert scene.rotate(DAY)
    assert first.until == end
    scene.tick()


def test_an_owner_whose_secret_was_stolen_ends_all_older_ones_soon() -> None:
    scene = Scene()
    scene.tick()
    assert scene.rotate(LONGEST_OVERLAP)
    scene.clock.move(NEXT_AFTER)
    scene.tick()
    stolen = scene.own().show(OWNER).current
    assert scene.rotate(SHORTEST_OVERLAP)
    for _ in range(12):
        scene.tick()
    headers = scene.executor().sign(a_message())
    assert not is_signed_by(stolen, headers, b'{"a": 1}')
    assert [held.until for held in scene.held.values()].count(None) == 1


def test_at_most_three_older_secrets_sign() -> None:
    scene = Scene()
    for _ in range(3):
        assert scene.rotate(HOUR)
        scene.clock.move(NEXT_AFTER)
    with pytest.raises(NotRotated) as refused:
        scene.own().rotate(OWNER, HOUR)
    assert str(refused.value).startswith("3 secrets from before still sign; try again at 2026-11-21T09:50")
    scene.clock.move(2 * NEXT_AFTER - 1)
    assert not scene.rotate(HOUR)
    scene.clock.move(1)
    assert scene.rotate(HOUR)


def test_a_short_overlap_is_never_refused_for_the_number_of_older_secrets() -> None:
    """Somebody has one of them: all end, though three sign for days."""
    scene = Scene()
    for _ in range(3):
        assert scene.rotate(LONGEST_OVERLAP)
        scene.clock.move(NEXT_AFTER)
    for _ in range(3):
        assert scene.rotate(SHORTEST_OVERLAP)
        scene.clock.move(SHORTEST_OVERLAP)


def test_at_most_two_older_keys_sign() -> None:
    scene = Scene()
    for _ in range(2):
        assert scene.rotate_key(HOUR)
        scene.clock.move(CURRENT_AFTER)
    with pytest.raises(NotRotated, match="3 keys still sign"):
        scene.keep().rotate()


# ------------------------------------------------------------ what an executor does without its rows


def test_an_old_row_serves_for_less_than_the_shortest_overlap() -> None:
    """Else what an executor signs with it were another thing than what was promised."""
    assert min(NEXT_AFTER, SHORTEST_OVERLAP, CURRENT_AFTER) > USABLE + 4 * MINUTE, "with a clock that is behind"


@pytest.mark.parametrize("overlap", [SHORTEST_OVERLAP, HOUR, LONGEST_OVERLAP])
def test_what_is_shown_after_a_rotation(overlap: Millis) -> None:
    scene = Scene()
    first = scene.own().show(OWNER)
    assert (first.previous, first.previous_until, first.rotated_at) == (None, None, None)
    now = scene.clock.now()
    second = scene.own().rotate(OWNER, overlap)
    assert second.previous == first.current != second.current
    assert (second.previous_until, second.rotated_at) == (now + overlap, now)
    scene.clock.move(overlap - 1)
    assert scene.own().show(OWNER) == second
    scene.clock.move(1)
    last = scene.own().show(OWNER)
    assert (last.current, last.previous, last.previous_until) == (second.current, None, None)
    assert "whsec_" not in repr(second)
