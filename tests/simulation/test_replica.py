"""What a request of a story may read: short pages, and items as they were a moment ago."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.memory import ManualClock
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Delete, ItemChange, Put, Query, entry_key
from delayer.engines.store.store import all_items
from delayer.schedule.instants import Millis
from delayer.schedule.tables import REGISTRY
from tests.samples import NOW
from tests.simulation.engine.chance import Chance
from tests.simulation.story.story import Story, play
from tests.simulation.system.replica import Replica
from tests.simulation.system.there import BEHIND, There

Items = dict[str, int]  # numbers by their entries
ENTRIES = st.sampled_from("abcd")
WRITES = st.lists(st.tuples(ENTRIES, st.integers(0, 3), st.integers(0, 700)), min_size=1, max_size=12)  # 0: a delete


class Stand:
    """A replica, and all that its partition has ever held, by when it began to."""

    def __init__(self, seed: int) -> None:
        self.clock = ManualClock(NOW)
        self.there = There(self.clock)
        self.replica = Replica(SqliteStore(heard=self.hear), self.there, Chance(seed), self.hear)
        self.now: Items = {}
        self.held: dict[Millis, Items] = {NOW - 2 * BEHIND: {}}

    def hear(self, changes: Sequence[ItemChange]) -> None:
        for change in changes:
            self.there.note(change)

    def write(self, entry: str, number: int) -> None:
        key = entry_key("flow", entry)
        self.replica.write(Put(REGISTRY, key, {"number": number}) if number else Delete(REGISTRY, key))
        self.now = {name: one for name, one in {**self.now, entry: number}.items() if one}
        self.held[self.clock.at] = self.now

    def lately(self) -> list[Items]:
        """What it held at some instant of the last second."""
        first = max(at for at in self.held if at <= self.clock.at - BEHIND)
        return [items for at, items in self.held.items() if at >= first]


def numbers(items: Any) -> list[tuple[str, int]]:
    return [(item["entry"], item["number"]) for item in items]


@given(st.integers(0, 2**32), WRITES, st.integers(0, 3), st.booleans())
def test_pages_that_are_up_to_date_have_each_item_once(seed: int, writes: Any, at_most: int, backward: bool) -> None:
    """However short they are."""
    stand = Stand(seed)
    for entry, number, passes in writes:
        stand.clock.move(passes)
        stand.write(entry, number)
        query = Query(REGISTRY, {"list": "flow"}, at_most=at_most, is_backward=backward)
        assert numbers(all_items(stand.replica, query)) == sorted(stand.now.items(), reverse=backward)
        assert stand.replica.count(query, 10) == len(stand.now)


@given(st.integers(0, 2**32), WRITES, st.booleans())
def test_a_page_that_may_be_old_shows_one_instant_of_the_last_second(seed: int, writes: Any, backward: bool) -> None:
    """Of the items of that instant it has all, or the first ones."""
    stand = Stand(seed)
    for entry, number, passes in writes:
        stand.clock.move(passes)
        stand.write(entry, number)
        page = stand.replica.query(Query(REGISTRY, {"list": "flow"}, is_backward=backward, latest=False))
        seen = numbers(page.items)
        held = [sorted(items.items(), reverse=backward) for items in stand.lately()]
        assert seen in ([one[: len(seen)] for one in held] if page.more else held)
        item = stand.replica.get(REGISTRY, entry_key("flow", entry), latest=False)
        assert (item["number"] if item else None) in [items.get(entry) for items in stand.lately()]


WANTED = {  # the ends of what is surprising, and a story that has it
    "page short": 7,
    "registry behind": 79,
    "get fault": 1,
    "query fault": 1,
    "ledger.write fault": 17,
    "ledger.write_each fault": 5,
    "write_all fault": 5,
    "registry.transact fault": 34,
}


@pytest.mark.parametrize("ends", WANTED)
def test_a_story_has_it(ends: str) -> None:
    """A fault that nothing draws finds no bug. If stories go otherwise than they did, look for another seed."""
    assert any(label.endswith(ends) for label, _ in play(Story(seed=WANTED[ends])).story.surprises or ())
