"""The queries of the calls that read series."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.accept.rules.listing import cursor_after
from delayer.http.problem import Invalid
from delayer.ledger.model import State
from delayer.series.rules.admission import admit_count, admit_occurrences, admit_series_listing, cursor_of
from delayer.series.rules.series import SeriesState
from tests.samples import an_id

SERIES = "0123456789abcdef" * 2
GROUPS = st.from_regex(r"[A-Za-z0-9._:@-]{0,128}", fullmatch=True)


@given(GROUPS, st.from_regex(r"[0-9a-f]{32}", fullmatch=True))
def test_a_cursor_leads_to_where_the_page_ended(group: str, series: str) -> None:
    assert admit_series_listing({"cursor": cursor_of(group, series)}).after == (group, series)


@given(GROUPS, GROUPS)
def test_a_cursor_of_another_group_is_refused(group: str, other: str) -> None:
    """DynamoDB refuses to begin outside of what is asked for."""
    query = {"cursor": cursor_of(group, SERIES), "group": other}
    if other and group == other:
        assert admit_series_listing(query).after == (group, SERIES)
    else:
        with pytest.raises(Invalid):
            admit_series_listing(query)


@given(st.text(max_size=300))
def test_no_other_text_is_a_cursor(text: str) -> None:
    for admit in (admit_series_listing, admit_occurrences):
        with pytest.raises(Invalid) as refused:
            admit({"cursor": text})
        assert {error.field for error in refused.value.errors} == {"cursor"}


def test_what_is_not_given_is_usual() -> None:
    listing, occurrences = admit_series_listing({}), admit_occurrences({})
    assert (listing.group, listing.state, listing.limit, listing.after) == (None, None, 50, None)
    assert (occurrences.state, occurrences.limit, occurrences.after) == (None, 50, "")
    assert admit_count({}) == 10


def test_what_is_given() -> None:
    listing = admit_series_listing({"group": "g", "state": "paused", "limit": "7"})
    assert (listing.group, listing.state, listing.limit) == ("g", SeriesState.PAUSED, 7)
    occurrences = admit_occurrences({"state": "failed", "limit": "1", "cursor": cursor_after(an_id())})
    assert (occurrences.state, occurrences.limit, occurrences.after) == (State.FAILED, 1, an_id())
    assert admit_count({"count": "100"}) == 100


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "x", "", "9" * 5_000, "１"])
def test_a_number_is_within_its_bounds(limit: str) -> None:
    for admit, name in ((admit_series_listing, "limit"), (admit_occurrences, "limit"), (admit_count, "count")):
        with pytest.raises(Invalid) as refused:
            admit({name: limit})
        assert {error.field for error in refused.value.errors} == {name}


def test_what_nobody_asked_for_is_refused() -> None:
    for admit in (admit_series_listing, admit_occurrences, admit_count):
        with pytest.raises(Invalid):
            admit({"sort": "up"})
    with pytest.raises(Invalid):
        admit_series_listing({"state": "executed"})
    with pytest.raises(Invalid):
        admit_series_listing({"group": ""})
