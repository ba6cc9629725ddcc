"""No two turns of a line are closer than its limit says, whoever books and however late."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.ports import Unavailable
from delayer.flow.ports import Booked, Elsewhere
from delayer.flow.repository import StoredLines
from delayer.flow.rules.block import Party
from delayer.flow.rules.limit import TOLERANCE, Want, line_of, plan
from delayer.flow.use_cases.turns import Booking
from delayer.flow.words import limited
from delayer.schedule.instants import DAY, SECOND
from tests.fakes.faults import FaultPlan, faulty
from tests.looking import all_rows, empty
from tests.samples import NOW, OWNER
from tests.tables import on_sqlite

TEN = limited(Party(owner=OWNER, target="http-request target"), NOW, 100_000, "")


def wants(*earliest: int, latest: int = NOW + DAY) -> list[Want]:
    return [Want(earliest=NOW + one, latest=latest) for one in earliest]


def test_each_has_the_next_turn_that_is_not_too_early() -> None:
    assert plan(0, 100_000, wants(0, 0, 50, 500)).at == [NOW, NOW + 100, NOW + 200, NOW + 500]
    assert plan((NOW + 300) * 1000, 100_000, wants(0, 450)).at == [NOW + 300, NOW + 450]


def test_who_could_not_use_a_turn_gets_none_and_takes_none() -> None:
    planned = plan(NOW * 1000, 100_000, [*wants(0), *wants(0, latest=NOW + 50), *wants(0)])
    assert planned.at == [NOW, None, NOW + 100]
    assert planned.end == (NOW + 200) * 1000


def test_a_turn_is_never_earlier_than_it_is() -> None:
    assert plan(NOW * 1000 + 1, 1_000, wants(0, 0)).at == [NOW + 1, NOW + 2]


@given(
    base=st.integers(0, 5_000_000),
    later=st.integers(0, 5_000_000),
    every=st.integers(1_000, 2_000_000),
    asked=st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 20_000)), min_size=1, max_size=10),
)
def test_what_was_reserved_for_an_earlier_line_is_enough_for_a_later_one(
    base: int, later: int, every: int, asked: list[tuple[int, int]]
) -> None:
    given_wants = sorted((Want(earliest=one, latest=one + more) for one, more in asked), key=lambda one: one.earliest)
    planned = plan(base, every, given_wants)
    if planned.first is None or later > planned.slack:
        return
    moved = plan(planned.first + later, every, given_wants)
    assert [turn is None for turn in moved.turns] == [turn is None for turn in planned.turns]
    assert moved.end - moved.base <= planned.end - planned.first


environments = st.lists(
    st.tuples(
        st.integers(0, 2),  # which environment
        st.integers(0, 3_000),  # by how much time has passed
        st.lists(st.integers(0, 3_000), min_size=1, max_size=10),  # how far ahead its messages are due
        st.integers(0, 30_000),  # how long they can wait
    ),
    max_size=30,
)


@given(books=environments, late=st.lists(st.integers(0, TOLERANCE), min_size=300, max_size=300))
def test_in_any_second_and_in_any_ten_there_are_no_more_than_are_allowed(
    books: list[tuple[int, int, list[int], int]], late: list[int]
) -> None:
    """Three environments that know of each other only what a refusal tells; each attempt as late as it may be."""
    plan = FaultPlan()
    lines = faulty(on_sqlite(StoredLines), plan)
    known = [Booking(lines=lines) for _ in range(3)]
    now, attempts = NOW, []
    for environment, passed, due, patience in books:
        now += passed
        asked = [Want(earliest=now + one, latest=now + one + patience) for one in sorted(due)]
        writes = len(plan.seen)
        turns = known[environment].book(TEN, asked)
        assert len(plan.seen) - writes <= 2
        for want, turn in zip(asked, turns, strict=True):
            assert turn is None or want.earliest <= turn <= want.latest
        attempts += [turn for turn in turns if turn is not None]
    made = sorted(at + late[number % len(late)] for number, at in enumerate(attempts))
    for first in made:
        assert sum(first <= at < first + SECOND for at in made) <= 12
        assert sum(first <= at < first + 10 * SECOND for at in made) <= 102


def test_a_batch_is_one_write_and_two_if_others_have_booked_further() -> None:
    plan = FaultPlan()
    lines = faulty(on_sqlite(StoredLines), plan)
    one, other = Booking(lines=lines), Booking(lines=lines)
    assert one.book(TEN, wants(*[0] * 10)) == [NOW + 100 * at for at in range(10)]
    assert len(plan.seen) == 1
    assert one.book(TEN, wants(0)) == [NOW + 1_000]
    assert len(plan.seen) == 2
    assert other.book(TEN, wants(0, 0)) == [NOW + 1_100, NOW + 1_200]
    assert len(plan.seen) == 4, "it had not heard of the line"
    assert one.book(TEN, wants(0)) == [NOW + 1_300], "it knew less than there was, but enough to go behind it"
    assert len(plan.seen) == 5


def test_a_line_that_is_too_long_is_not_booked_and_not_asked_twice() -> None:
    stored, plan = on_sqlite(StoredLines), FaultPlan()
    lines = faulty(stored, plan)
    one = Booking(lines=lines)
    one.book(TEN, wants(*[0] * 10))
    other = Booking(lines=lines)
    short = wants(0, 0, latest=NOW + 500)
    assert other.book(TEN, short) == [None, None]
    booked, writes = all_rows(stored), len(plan.seen)
    assert other.book(TEN, short) == [None, None]
    assert (all_rows(stored), len(plan.seen)) == (booked, writes)


def test_a_line_whose_row_is_gone_goes_on_where_it_was() -> None:
    lines = on_sqlite(StoredLines)
    one = Booking(lines=lines)
    one.book(TEN, wants(*[0] * 10))
    empty(lines)
    assert one.book(TEN, wants(0)) == [NOW + 1_000]
    assert all_rows(lines) == {line_of(TEN): (NOW + 1_100) * 1_000}


class Busy(StoredLines):
    """Others are always faster."""

    def begin_line(self, *args: object) -> Booked | Elsewhere:
        return Elsewhere((NOW + 1) * 1_000)

    def extend_line(self, line: str, known: int, *args: object) -> Booked | Elsewhere:
        return Elsewhere(known + 1)


def test_who_finds_others_again_and_again_waits() -> None:
    with pytest.raises(Unavailable, match="all the time"):
        Booking(lines=on_sqlite(Busy)).book(TEN, wants(0))
