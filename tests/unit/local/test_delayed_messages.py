"""A queue is looked at when something may be visible in it, and at least once a second."""

import threading
import time

from local.delayed_messages import DelayedMessages


def test_a_queue_is_worth_a_look_when_its_next_message_is_due() -> None:
    index = DelayedMessages(wake=lambda: None)
    index.emptied("q", 100.0)
    index.note("q", 100.5)
    assert not index.worth_a_look("q", 100.4)
    assert index.worth_a_look("q", 100.5)


def test_looking_at_everything_visible_forgets_it_and_nothing_else() -> None:
    index = DelayedMessages(wake=lambda: None)
    for instant in (100.1, 100.2, 100.9):
        index.note("q", instant)
    index.emptied("q", 100.2)
    assert not index.worth_a_look("q", 100.8)
    assert index.worth_a_look("q", 100.9)


def test_an_unnoted_change_is_found_within_a_second() -> None:
    index = DelayedMessages(wake=lambda: None)
    index.emptied("q", 100.0)
    assert not index.worth_a_look("q", 100.9)
    assert index.worth_a_look("q", 101.0)


def test_the_alarm_rings_at_the_earliest_instant() -> None:
    rung = threading.Event()
    index = DelayedMessages(wake=rung.set)
    index.start()
    now = time.time()
    index.note("q", now + 60)
    index.note("r", now + 0.05)
    assert rung.wait(2)
    assert time.time() >= now + 0.05
