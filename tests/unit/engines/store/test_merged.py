"""One page of a list whose parts are read by themselves."""

from hypothesis import given
from hypothesis import strategies as st

from delayer.history.ports import Member, Members
from delayer.history.repository import entry_of, merged
from tests.samples import NOW, an_id

IDS = [an_id(NOW + at) for at in range(12)]


def page_of(part: list[str], after: str, at_most: int) -> Members:
    """As DynamoDB answers for one part."""
    behind = [one for one in part if not after or entry_of(one) > entry_of(after)]
    shown = behind[:at_most]
    more = shown[-1] if len(behind) > len(shown) else ""
    return Members(members=tuple(Member(schedule_id=one, created_at=NOW) for one in shown), more=more)


@given(
    st.lists(st.sets(st.sampled_from(IDS)), min_size=1, max_size=4),
    st.lists(st.integers(1, 4), min_size=4, max_size=4),
    st.integers(1, 5),
)
def test_page_by_page_all_are_shown_in_order(parts: list[set[str]], sizes: list[int], at_most: int) -> None:
    """Also where a part answers with less than it was asked for, as DynamoDB may."""
    wanted, found, after = sorted(set().union(*parts)), list[str](), ""
    while True:
        pages = [page_of(sorted(part), after, min(size, at_most)) for part, size in zip(parts, sizes, strict=False)]
        got = merged(pages, at_most)
        assert len(got.members) <= at_most
        found += [one.schedule_id for one in got.members]
        if not got.more:
            break
        assert got.more == found[-1], "the next page begins behind what was shown"
        after = got.more
    assert found == wanted
