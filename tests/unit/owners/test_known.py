"""What is read of owner policies, and how often."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from attrs import define, field

from delayer.engines.memory import ManualClock
from delayer.engines.ports import Unavailable
from delayer.owners.known import FRESH_FOR, OWNERS, KnownOwnerPolicies
from delayer.owners.model import OwnerPolicy, StoredOwnerPolicy
from delayer.owners.ports import DEFAULT
from delayer.owners.repository import StoredOwnerPolicies
from delayer.schedule.schedule import SYSTEM_OWNER
from tests.tables import on_sqlite
from tests.world import START


def stored(**rules: Any) -> StoredOwnerPolicy:
    return StoredOwnerPolicy(policy=OwnerPolicy(rules=rules), revision=1)


@define
class Rows:
    """Port OwnerPolicies: whose rows are read."""

    rows: StoredOwnerPolicies = field(factory=partial(on_sqlite, StoredOwnerPolicies))
    reads: list[str] = field(factory=list)

    def owner_policy(self, owner: str) -> StoredOwnerPolicy | None:
        self.reads.append(owner)
        return self.rows.owner_policy(owner)

    def put(self, owner: str, policy: StoredOwnerPolicy) -> None:
        assert self.rows.write_owner_policy(owner, policy, policy.revision - 1)


def known_of(rows: Rows) -> tuple[KnownOwnerPolicies, ManualClock]:
    clock = ManualClock(START)
    return KnownOwnerPolicies(clock=clock, owner_policy_rows=rows), clock  # type: ignore[arg-type] # it has what is called


def test_without_any_policy_one_row_is_read_in_ten_seconds() -> None:
    rows = Rows()
    known, clock = known_of(rows)
    for at in range(100):
        assert known.of(f"owner-{at}").rules == {}
    assert rows.reads == [DEFAULT]
    clock.move(FRESH_FOR)
    known.of("owner-0")
    assert rows.reads == [DEFAULT] * 2


def test_an_owner_s_row_is_read_once_in_ten_seconds_whether_it_is_there_or_not() -> None:
    rows = Rows()
    rows.put("a", stored(payloadBytes=1))
    known, clock = known_of(rows)
    for _ in range(5):
        assert known.of("a").rules == {"payloadBytes": 1}
        assert known.of("b").rules == {}
    assert sorted(rows.reads) == [DEFAULT, "a", "b"]
    clock.move(FRESH_FOR - 1)
    rows.put("a", StoredOwnerPolicy(policy=OwnerPolicy(rules={"payloadBytes": 2}), revision=2))
    assert known.of("a").rules == {"payloadBytes": 1}
    clock.move(1)
    assert known.of("a").rules == {"payloadBytes": 2}


def test_many_who_ask_at_a_time_read_once() -> None:
    rows = Rows()
    rows.put("a", stored(payloadBytes=1))
    known, _ = known_of(rows)
    with ThreadPoolExecutor(10) as threads:
        assert len([*threads.map(known.of, ["a"] * 200)]) == 200
    assert sorted(rows.reads) == [DEFAULT, "a"]


def test_the_memory_is_bounded() -> None:
    rows = Rows()
    rows.put("a", stored(payloadBytes=1))
    known, _ = known_of(rows)
    for at in range(OWNERS + 50):
        known.of(f"owner-{at}")
    rows.reads.clear()
    known.of(f"owner-{OWNERS + 49}")
    assert rows.reads == [], "who came last is known"
    known.of("owner-0")
    assert rows.reads == ["owner-0"]


def test_the_own_policy_is_over_the_default() -> None:
    rows = Rows()
    rows.put(DEFAULT, stored(payloadBytes=1, series=2, hosts=("x.example",)))
    rows.put("a", stored(payloadBytes=9, hosts=None))
    known, _ = known_of(rows)
    assert known.of("a").rules == {"payloadBytes": 9, "series": 2}
    assert known.of("b").rules == {"payloadBytes": 1, "series": 2, "hosts": ("x.example",)}


def test_delayer_itself_has_no_policy() -> None:
    rows = Rows()
    rows.put(DEFAULT, stored(actions=()))
    known, _ = known_of(rows)
    assert known.of(SYSTEM_OWNER).rules == {}
    assert rows.reads == []


def test_what_was_read_before_does_not_count_for_longer() -> None:
    class Down:
        def owner_policy(self, owner: str) -> StoredOwnerPolicy | None:
            raise Unavailable(owner)

    known, clock = known_of(Rows())
    known.of("a")
    known.owner_policy_rows = Down()  # type: ignore[assignment] # it has what is called
    known.of("a")
    clock.move(FRESH_FOR)
    with pytest.raises(Unavailable):
        known.of("a")
