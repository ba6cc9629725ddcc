"""The seats of limits: never more than there are, whoever writes when, and each is given back once."""

import pytest

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.store import Store
from delayer.flow.ports import KeepsSeats
from delayer.flow.repository import StoredSeats
from delayer.flow.rules.gate import TERM, Row, SeatHold, Taking
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW

ADAPTER = StoredSeats
UNTIL = NOW + TERM
A, B, C = (SeatHold(id=name, number=number, until=UNTIL) for name, number in (("a", 3), ("b", 2), ("c", 1)))


def taking(hold: SeatHold, *gone: SeatHold, most: int = 5) -> Taking:
    return Taking(hold=hold, gone=gone, most=most)


@pytest.fixture
def rows(store: Store) -> KeepsSeats:
    return StoredSeats(store=store, table=create_table(store, "list", "entry"))


def test_seats_are_taken_until_none_is_left(rows: KeepsSeats) -> None:
    assert rows.take_seats("s", taking(A)) is None
    assert rows.take_seats("s", taking(B)) is None
    assert rows.take_seats("s", taking(C)) == Row(taken=5, holds=(A, B))
    assert rows.take_seats("another", taking(C)) is None


def test_the_first_write_takes_no_more_than_there_are(rows: KeepsSeats) -> None:
    assert rows.take_seats("s", taking(A, most=3)) is None
    assert rows.take_seats("s", taking(C, most=3)) == Row(taken=3, holds=(A,))


def test_a_write_that_is_repeated_takes_once(rows: KeepsSeats) -> None:
    """Its answer was lost."""
    assert rows.take_seats("s", taking(A)) is None
    assert rows.take_seats("s", taking(A)) is None
    assert rows.take_seats("s", taking(B, most=3)) == Row(taken=3, holds=(A,))


def test_what_is_given_back_is_free_once(rows: KeepsSeats) -> None:
    rows.take_seats("s", taking(A))
    rows.take_seats("s", taking(B))
    assert rows.return_seats("s", [A]) is None
    assert rows.return_seats("s", [A]) == Row(taken=2, holds=(B,))
    assert rows.return_seats("s", [A, B]) == Row(taken=2, holds=(B,)), "all or nothing"
    assert rows.return_seats("s", [B]) is None
    assert rows.return_seats("s", [B]) == Row(taken=0, holds=())
    assert rows.return_seats("never", [B]) == Row(taken=0, holds=())


def test_who_takes_removes_what_is_over_once(rows: KeepsSeats) -> None:
    rows.take_seats("s", taking(A))
    rows.take_seats("s", taking(B))
    four = SeatHold(id="d", number=4, until=UNTIL + 1)
    assert rows.take_seats("s", taking(four, A)) == Row(taken=5, holds=(A, B)), "not so many are free then"
    assert rows.take_seats("s", taking(four, A, B)) is None
    assert rows.take_seats("s", taking(C, A)) == Row(taken=4, holds=(four,)), "another one has removed it"
    assert rows.return_seats("s", [A]) == Row(taken=4, holds=(four,)), "it comes back too late"


def test_a_hold_that_was_taken_anew_is_another(rows: KeepsSeats) -> None:
    rows.take_seats("s", taking(A))
    later = SeatHold(id=A.id, number=A.number, until=UNTIL + 1)
    assert rows.return_seats("s", [later]) == Row(taken=3, holds=(A,))


def test_a_limit_that_was_lowered_counts_what_is_taken(rows: KeepsSeats) -> None:
    rows.take_seats("s", taking(A))
    rows.take_seats("s", taking(B))
    assert rows.take_seats("s", taking(C, most=4)) == Row(taken=5, holds=(A, B))
    assert rows.take_seats("s", taking(C, A, most=3)) is None


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_aws_fails(error: Exception) -> None:
    rows = StoredSeats(store=DynamoStore(Failing(error)), table="t")
    with pytest.raises(Unavailable):
        rows.take_seats("s", taking(A))
    with pytest.raises(Unavailable):
        rows.return_seats("s", [A])
