"""Lists of schedules in due order, one item for each: those of a group, and those of an owner."""

from collections.abc import Sequence

from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.schedule_id import address_of
from delayer.ports.lists import Member, Members
from delayer.store.items import Item, StoredItem, entry_key
from delayer.store.queries import Page, Query, Range


def entry_of(schedule_id: str) -> str:
    """The sort key of a member: in due order."""
    return f"{address_of(schedule_id).due:015d}#{schedule_id}"


def member_item(entries: str, schedule_id: str, created_at: Millis, expires_at: Millis) -> Item:
    """A member of the list `entries` as it is stored."""
    return {
        **entry_key(entries, entry_of(schedule_id)),
        "createdAt": created_at,
        "expiresAt": expires_at // SECOND,
    }


def _member_from(item: StoredItem) -> Member:
    return Member(schedule_id=id_in(item), created_at=item["createdAt"])


def id_in(item: StoredItem) -> str:
    """The id of a member, or of the key of one."""
    return _id_in_entry(item["entry"])


def _id_in_entry(entry: str) -> str:
    return entry.partition("#")[2]


def list_query(table: str, entries: str, after: str = "", at_most: int = 0) -> Query:
    """A page of a list, after an entry of it: strongly consistent."""
    return Query(table, {"list": entries}, after=after, at_most=at_most)


def page_query(
    table: str,
    entries: str,
    since: Millis,
    until: Millis,
    after: str,
    at_most: int,
    *,
    latest: bool,
    only: tuple[str, ...] = (),
) -> Query:
    """A page of the list: due from `since` on and before `until`, after one of them.

    It does not go on after an entry: DynamoDB refuses one outside the bounds, and bounds that are the wrong way round.
    """
    following = f"{entry_of(after)}!" if after else ""  # longer than its entry, and before all later ones
    first = max(f"{since:015d}", following)
    within = Range("between", first, max(f"{until:015d}", first))
    return Query(table, {"list": entries}, within=within, at_most=at_most, latest=latest, only=only)


def members_in(page: Page) -> Members:
    """The page as the port has it."""
    return Members(members=tuple(map(_member_from, page.items)), more=_id_in_entry(page.more))


def merged(pages: Sequence[Members], at_most: int) -> Members:
    """One page of several, each of another part of the list: as many as one has, in due order.

    Behind the end of a page that is not the last of its part there may be others, which are not known yet.
    """
    known_until = min((entry_of(page.more) for page in pages if page.more), default="~")
    found = {entry_of(one.schedule_id): one for page in pages for one in page.members}
    shown = [found[entry] for entry in sorted(found) if entry <= known_until][:at_most]
    is_all = len(shown) == len(found) and not any(page.more for page in pages)
    return Members(members=tuple(shown), more="" if is_all or not shown else shown[-1].schedule_id)
