"""What became of a burst that was interrupted, and whether the answers to cancels were true."""

from bench.load.arrivals import Arrival
from bench.measure.lateness import summarise
from bench.peers.contender import CANCELLED, TOO_LATE, UNANSWERED, Memory
from bench.peers.outcome import Growth, Outcome, cancels, crash, missing

DUE = {"a": 1_000, "b": 1_000, "c": 1_000, "d": 1_000}


def arrivals(*pairs: tuple[str, int]) -> list[Arrival]:
    return [Arrival(schedule_id=schedule_id, at_ms=at_ms) for schedule_id, at_ms in pairs]


def test_before_late_lost_doubled_and_what_is_still_to_come_are_counted() -> None:
    came = arrivals(("a", 1_010), ("b", 1_020), ("b", 31_000), ("stranger", 1_000))
    counts = crash(DUE, came, killed_at=1_020, ended_at=41_000, waiting=1)
    assert (counts.schedules, counts.before, counts.lost, counts.waiting, counts.doubled) == (4, 2, 1, 1, 1)
    assert (counts.early, counts.last_seconds, counts.watched_seconds) == (0, 30.0, 40.0)


def test_what_arrived_before_its_time_is_early() -> None:
    assert crash(DUE, arrivals(("a", 999)), killed_at=0, ended_at=0, waiting=3).early == 1


def test_what_has_come_since_it_was_counted_as_waiting_is_not_lost_twice() -> None:
    came = arrivals(("a", 1_000), ("b", 1_000), ("c", 2_000))
    counts = crash(DUE, came, killed_at=1_500, ended_at=2_500, waiting=2)
    assert (counts.waiting, counts.lost) == (1, 0)


def test_when_nothing_has_arrived_all_is_lost_or_waits() -> None:
    counts = crash(DUE, [], killed_at=0, ended_at=0, waiting=3)
    assert (counts.lost, counts.waiting, counts.last_seconds) == (1, 3, 0.0)
    assert missing(DUE, []) == set(DUE)


def test_a_cancel_is_true_if_it_did_not_fire_and_a_refusal_if_it_did() -> None:
    answers = {"kept": CANCELLED, "fired": CANCELLED, "late": TOO_LATE, "never": TOO_LATE, "silent": UNANSWERED}
    counts = cancels(answers, {"fired", "late"}, in_time={"kept", "fired", "late"})
    assert (counts.cancelled, counts.fired_all_the_same, counts.unanswered) == (2, 1, 1)
    assert (counts.too_late, counts.never_fired) == (2, 1)
    assert counts.untrue == 2


def test_a_cancel_in_time_is_taken_if_it_was_answered_so_and_nothing_fired() -> None:
    answers = {"kept": CANCELLED, "fired": CANCELLED, "late": TOO_LATE, "in the last moment": CANCELLED}
    counts = cancels(answers, {"fired", "late"}, in_time={"kept", "fired", "late"})
    assert (counts.in_time, counts.taken_in_time) == (3, 1)


def test_memory_is_scaled_to_the_number_that_is_shown() -> None:
    before, after = Memory(processes_mb=50, store_mb=1), Memory(processes_mb=60, store_mb=3)
    growth = Growth(waiting=2_000, before=before, after=after)
    assert (growth.processes_mb(100_000), growth.store_mb(100_000)) == (500, 100)


def test_a_crash_may_double_but_neither_lose_nor_be_early() -> None:
    doubled = crash(DUE, arrivals(*((one, 1_000) for one in "aabcd")), killed_at=1, ended_at=1, waiting=0)
    assert doubled.doubled == 1
    assert Outcome(name="x", crash=doubled).is_correct
    assert not Outcome(name="x", crash=crash(DUE, [], killed_at=1, ended_at=1, waiting=3)).is_correct
    assert not Outcome(name="x", crash=crash(DUE, arrivals(("a", 1)), killed_at=1, ended_at=1, waiting=3)).is_correct


def test_without_a_crash_nothing_may_be_doubled_and_no_answer_untrue() -> None:
    row = summarise("run", {"a": 1_000}, arrivals(("a", 1_001), ("a", 1_002)))
    assert not Outcome(name="x", lateness=[row]).is_correct
    assert not Outcome(name="x", cancels=cancels({"a": CANCELLED}, {"a"}, in_time=())).is_correct
    assert not Outcome(name="x", skipped="It has ended.").is_correct
