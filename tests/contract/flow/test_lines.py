"""The lines of limits: a turn is booked once, and one write books all that a batch needs."""

import pytest

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put, entry_key
from delayer.engines.store.store import Store
from delayer.flow.ports import Booked, Elsewhere
from delayer.flow.repository import SLOTS_LIST, StoredLines
from delayer.schedule.instants import DAY
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW

ADAPTER = StoredLines
FIRST = NOW * 1_000
EXPIRES = NOW + DAY


@pytest.fixture
def lines(store: Store) -> StoredLines:
    return StoredLines(store=store, table=create_table(store, "list", "entry"))


def test_the_first_begins_the_line(lines: StoredLines) -> None:
    assert lines.line_ends() == {}
    assert lines.begin_line("a", FIRST, FIRST + 500, EXPIRES) == Booked(FIRST)
    assert lines.line_ends() == {"a": FIRST + 500}


def test_who_begins_where_others_have_booked_learns_how_far(lines: StoredLines) -> None:
    lines.begin_line("a", FIRST, FIRST + 500, EXPIRES)
    assert lines.begin_line("a", FIRST + 499, FIRST + 1_000, EXPIRES) == Elsewhere(FIRST + 500)
    assert lines.begin_line("b", FIRST, FIRST + 1, EXPIRES) == Booked(FIRST), "another line"
    assert lines.line_ends() == {"a": FIRST + 500, "b": FIRST + 1}


def test_where_nobody_has_booked_for_some_time_it_begins_anew(lines: StoredLines) -> None:
    lines.begin_line("a", FIRST, FIRST + 500, EXPIRES)
    assert lines.begin_line("a", FIRST + 500, FIRST + 600, EXPIRES) == Booked(FIRST + 500)
    assert lines.begin_line("a", FIRST + 9_000, FIRST + 9_100, EXPIRES) == Booked(FIRST + 9_000)
    assert lines.line_ends() == {"a": FIRST + 9_100}


def test_a_line_is_extended_behind_whoever_was_the_last(lines: StoredLines) -> None:
    lines.begin_line("a", FIRST, FIRST + 500, EXPIRES)
    assert lines.extend_line("a", FIRST + 500, 300, 10_000, EXPIRES) == Booked(FIRST + 500)
    assert lines.extend_line("a", FIRST + 500, 200, 10_000, EXPIRES) == Booked(FIRST + 800)
    assert lines.line_ends() == {"a": FIRST + 1_000}


def test_nothing_is_booked_too_late_or_before_what_is_known(lines: StoredLines) -> None:
    lines.begin_line("a", FIRST, FIRST + 500, EXPIRES)
    assert lines.extend_line("a", FIRST + 100, 300, 399, EXPIRES) == Elsewhere(FIRST + 500)
    assert lines.extend_line("a", FIRST + 501, 300, 10_000, EXPIRES) == Elsewhere(FIRST + 500)
    assert lines.extend_line("a", FIRST + 100, 300, 400, EXPIRES) == Booked(FIRST + 500)


def test_a_line_without_a_row_is_begun(lines: StoredLines) -> None:
    assert lines.extend_line("a", FIRST, 300, 10_000, EXPIRES) == Elsewhere(0)
    assert lines.line_ends() == {}


def test_all_pages_are_read(lines: StoredLines) -> None:
    """A page of DynamoDB has one MiB: three rows of 400 kB are more."""
    many = {f"line {at}": FIRST + at for at in range(4)}
    for line, end in many.items():
        lines.store.write(Put(lines.table, entry_key(SLOTS_LIST, line), {"next": end, "large": "x" * 390_000}))
    assert lines.line_ends() == many


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_aws_fails(error: Exception) -> None:
    lines = StoredLines(store=DynamoStore(Failing(error)), table="t")
    for call in (
        lambda: lines.begin_line("a", 1, 2, 3),
        lambda: lines.extend_line("a", 1, 2, 3, 4),
        lines.line_ends,
    ):
        with pytest.raises(Unavailable):
            call()
