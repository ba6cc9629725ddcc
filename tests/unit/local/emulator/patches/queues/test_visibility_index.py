"""A queue is polled when a message may be visible in it, and at least once a second."""

import threading
import time

from local.emulator.patches.queues.visibility_index import VisibilityIndex


def test_a_queue_may_have_a_visible_message_when_its_next_one_is_due() -> None:
    index = VisibilityIndex(wake=lambda: None)
    index.note_all_received("q", 100.0)
    index.note("q", 100.5)
    assert not index.may_have_visible("q", 100.4)
    assert index.may_have_visible("q", 100.5)


def test_receiving_everything_visible_removes_it_and_nothing_else() -> None:
    index = VisibilityIndex(wake=lambda: None)
    for instant in (100.1, 100.2, 100.9):
        index.note("q", instant)
    index.note_all_received("q", 100.2)
    assert not index.may_have_visible("q", 100.8)
    assert index.may_have_visible("q", 100.9)


def test_a_change_that_was_not_noted_is_found_within_a_second() -> None:
    index = VisibilityIndex(wake=lambda: None)
    index.note_all_received("q", 100.0)
    assert not index.may_have_visible("q", 100.9)
    assert index.may_have_visible("q", 101.0)


def test_wake_is_called_at_the_earliest_instant() -> None:
    woken = threading.Event()
    index = VisibilityIndex(wake=woken.set)
    index.start()
    now = time.time()
    index.note("q", now + 60)
    index.note("r", now + 0.05)
    assert woken.wait(2)
    assert time.time() >= now + 0.05
