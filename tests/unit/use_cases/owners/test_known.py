"""What is read of owner policies, and how often."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from delayer.core.owners.owner_policy import OwnerPolicy, StoredOwnerPolicy
from delayer.core.schedule.schedule import SYSTEM_OWNER
from delayer.fakes import ManualClock, MemoryOwnerPolicies
from delayer.ports.owner_policies import DEFAULT
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.owners.known import FRESH_FOR, OWNERS, KnownOwnerPolicies
from tests.world import START


def stored(**rules: Any) -> StoredOwnerPolicy:
    return StoredOwnerPolicy(policy=OwnerPolicy(rules=rules), revision=1)


def known_of(rows: MemoryOwnerPolicies) -> tuple[KnownOwnerPolicies, ManualClock]:
    clock = ManualClock(START)
    return KnownOwnerPolicies(clock=clock, store=rows), clock


def test_without_any_policy_one_row_is_read_in_ten_seconds() -> None:
    rows = MemoryOwnerPolicies()
    known, clock = known_of(rows)
    for at in range(100):
        assert known.of(f"owner-{at}").rules == {}
    assert rows.reads == [DEFAULT]
    clock.move(FRESH_FOR)
    known.of("owner-0")
    assert rows.reads == [DEFAULT] * 2


def test_an_owner_s_row_is_read_once_in_ten_seconds_whether_it_is_there_or_not() -> None:
    rows = MemoryOwnerPolicies()
    rows.write_owner_policy("a", stored(payloadBytes=1), 0)
    known, clock = known_of(rows)
    for _ in range(5):
        assert known.of("a").rules == {"payloadBytes": 1}
        assert known.of("b").rules == {}
    assert sorted(rows.reads) == [DEFAULT, "a", "b"]
    clock.move(FRESH_FOR - 1)
    rows.write_owner_policy("a", StoredOwnerPolicy(policy=OwnerPolicy(rules={"payloadBytes": 2}), revision=2), 1)
    assert known.of("a").rules == {"payloadBytes": 1}
    clock.move(1)
    assert known.of("a").rules == {"payloadBytes": 2}


def test_many_who_ask_at_a_time_read_once() -> None:
    rows = MemoryOwnerPolicies()
    rows.write_owner_policy("a", stored(payloadBytes=1), 0)
    known, _ = known_of(rows)
    with ThreadPoolExecutor(10) as threads:
        assert len([*threads.map(known.of, ["a"] * 200)]) == 200
    assert sorted(rows.reads) == [DEFAULT, "a"]


def test_the_memory_is_bounded() -> None:
    rows = MemoryOwnerPolicies()
    rows.write_owner_policy("a", stored(payloadBytes=1), 0)
    known, _ = known_of(rows)
    for at in range(OWNERS + 50):
        known.of(f"owner-{at}")
    rows.reads.clear()
    known.of(f"owner-{OWNERS + 49}")
    assert rows.reads == [], "who came last is known"
    known.of("owner-0")
    assert rows.reads == ["owner-0"]


def test_the_own_policy_is_over_the_default() -> None:
    rows = MemoryOwnerPolicies()
    rows.write_owner_policy(DEFAULT, stored(payloadBytes=1, series=2, hosts=("x.example",)), 0)
    rows.write_owner_policy("a", stored(payloadBytes=9, hosts=None), 0)
    known, _ = known_of(rows)
    assert known.of("a").rules == {"payloadBytes": 9, "series": 2}
    assert known.of("b").rules == {"payloadBytes": 1, "series": 2, "hosts": ("x.example",)}


def test_delayer_itself_has_no_policy() -> None:
    rows = MemoryOwnerPolicies()
    rows.write_owner_policy(DEFAULT, stored(actions=()), 0)
    known, _ = known_of(rows)
    assert known.of(SYSTEM_OWNER).rules == {}
    assert rows.reads == []


def test_what_was_read_before_does_not_count_for_longer() -> None:
    class Down:
        def owner_policy(self, owner: str) -> StoredOwnerPolicy | None:
            raise Unavailable(owner)

    known, clock = known_of(MemoryOwnerPolicies())
    known.of("a")
    known.store = Down()
    known.of("a")
    clock.move(FRESH_FOR)
    with pytest.raises(Unavailable):
        known.of("a")
