"""How many seats are taken, and how long they may be used."""

from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.store.model import entry_key
from delayer.flow.repository import HOLD, SLOTS_LIST, StoredSeats
from delayer.flow.rules.gate import CLEARED, NEEDED, TERM, Row, SeatHold, is_usable, over, still_there, take
from tests.looking import all_rows, put_item
from tests.samples import NOW
from tests.tables import on_sqlite

HOLDS = st.lists(st.tuples(st.integers(1, 5), st.integers(-TERM, TERM)), max_size=6)


def row_of(holds: list[tuple[int, int]]) -> Row:
    made = tuple(SeatHold(id=str(at), number=number, until=NOW + left) for at, (number, left) in enumerate(holds))
    return Row(taken=sum(one.number for one in made), holds=made)


@given(holds=HOLDS, wanted=st.integers(1, 20), most=st.integers(1, 20))
def test_what_is_taken_by_a_known_row_is_there_and_never_more_than_allowed(
    holds: list[tuple[int, int]], wanted: int, most: int
) -> None:
    row = row_of(holds)
    alive = sum(one.number for one in row.holds if one.until > NOW)
    taking = take(row, wanted, most, NOW, "mine")
    if taking is None:
        assert alive >= most
        return
    rows = on_sqlite(StoredSeats)
    put_item(rows, entry_key(SLOTS_LIST, "s"), {"taken": row.taken, **{HOLD + one.id: one.text for one in row.holds}})
    assert rows.take_seats("s", taking) is None, "nobody was faster"
    assert all_rows(rows)["s"].taken == alive + taking.hold.number <= most
    assert taking.hold.number == min(wanted, most - alive)


def test_who_does_not_know_the_row_asks_for_all_that_could_be() -> None:
    for wanted, number in ((3, 3), (9, 5)):
        taking = take(None, wanted, 5, NOW, "mine")
        assert taking
        assert taking.hold == SeatHold(id="mine", number=number, until=NOW + TERM)


def test_a_seat_is_used_while_the_longest_attempt_fits() -> None:
    hold = SeatHold(id="a", number=1, until=NOW + NEEDED)
    assert is_usable(hold, NOW)
    assert not is_usable(hold, NOW + 1)
    assert NEEDED > 31_000, "the longest attempt, and until it is left behind"


def test_one_write_clears_only_so_many() -> None:
    row = row_of([(1, 0)] * (CLEARED + 5))
    assert len(over(row, NOW)) == CLEARED
    assert over(None, NOW) == ()


def test_what_others_have_removed_is_not_there() -> None:
    row = row_of([(1, 5), (2, 6)])
    gone = SeatHold(id="9", number=1, until=NOW)
    assert still_there(row, [gone, row.holds[1]]) == (row.holds[1],)
