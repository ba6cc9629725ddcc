"""Which items of a restored table may go back (ADR 0080). Pure: an item comes in, a decision goes out."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from attrs import frozen

from delayer.owners.repository import VERSION
from delayer.records.repository import is_heartbeat
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.schedule_id import RecordKey, id_in, is_undecided
from delayer.series.repository.upkeep import NET
from delayer.series.rules.series import Directory

Item = Mapping[str, Any]


class Decision(StrEnum):
    """Says what happens to an item."""

    COPY = "copied"  # put, if there is none under its key
    LEAVE = "left out"  # it must not go back, or is not needed
    WRONG = "of another table"  # the table that was named is not of this kind


@frozen(kw_only=True)
class Table:
    """One kind of table."""

    what: str  # for people
    output: str  # of the stack: the name of its table
    keys: tuple[str, ...]
    decide: Callable[[Item, Millis], Decision]
    is_marked: bool = False  # whether its stream is read for lifecycle events


def has_expired(item: Item, now: Millis) -> bool:
    """Whether DynamoDB's TTL may have deleted it meanwhile."""
    return "expiresAt" in item and int(item["expiresAt"]["N"]) * SECOND < now


def of_ledger(item: Item, now: Millis) -> Decision:
    """Every row that has not expired: a row that is missing is a schedule that may fire again."""
    return Decision.LEAVE if has_expired(item, now) else Decision.COPY


def of_schedules(item: Item, _now: Millis) -> Decision:
    """Every record but heartbeats. What is past its expiry fires all the same: TTL is a safety net, not an end."""
    if of_waiting(item, _now) is Decision.COPY:
        return Decision.WRONG
    return Decision.LEAVE if is_heartbeat(item["bucket"]["S"]) else Decision.COPY


def of_waiting(item: Item, _now: Millis) -> Decision:
    """Every record. One whose row shows a decision or an end is cleared away by the function of its policy."""
    key = RecordKey(bucket=item["bucket"]["S"], due=item["due"]["S"])
    return Decision.COPY if is_undecided(id_in(key)) else Decision.WRONG


def of_lists(kinds: Mapping[str, Decision]) -> Callable[[Item, Millis], Decision]:
    """For a table of lists: the first part of the list's name says what it is."""

    def decide(item: Item, now: Millis) -> Decision:
        decision = kinds.get(item["list"]["S"].partition("#")[0], Decision.WRONG)
        return Decision.LEAVE if decision is Decision.COPY and has_expired(item, now) else decision

    return decide


def of_control(item: Item, _now: Millis) -> Decision:
    """The keys of ids and signatures, what owners have rotated, and the policy of each owner, as they are.

    `shards` and `sweep` are merged, and so are the default policy and the lists of owners that have one: an owner must
    not be free because a table was lost. A heartbeat or a pause never goes back, nor `actions` and `owner-claim`: each
    stack writes its own when it is deployed.
    """
    copied = (*KEYS, "signing#", f"{OWNER_POLICY}#")
    return Decision.COPY if item["name"]["S"].startswith(copied) else Decision.LEAVE


KEYS: Final = ("id-key", "signing-key")  # a stack has its own, or those of the copy
OWNER_POLICY: Final = "owner-policy"  # the default; with `#` and an owner behind it, that of the owner
OWNERS_WITH_POLICY: Final = "owner-policies#"  # the lists of their names
OF_SCHEDULES: Final = ("schedules", "relaxed")  # the kinds whose records fire
# Of one that has gone on since the copy, the cursor stands and is not overwritten. What was filed for it, and is no
# longer current, is found by the net and taken off the file (ADR 0100).
OF_SERIES: Final = ("series", "series-of", "series-name", "current", *(str(one) for one in Directory))
OF_CONNECTIONS: Final = ("connections", "connection-uses", "connection-gate")  # how many there are is counted anew
NET_OF_SERIES: Final = (NET, *(f"series-{one}" for one in Directory))  # control rows: without them it begins anew

# In the order in which they are copied.
TABLES: Final[Mapping[str, Table]] = {
    "control": Table(
        what="the keys of ids and signatures, owner policies and the numbers of shards",
        output="ControlTable",
        keys=("name",),
        decide=of_control,
    ),
    "ledger": Table(what="the ledger", output="LedgerTable", keys=("scheduleId",), decide=of_ledger, is_marked=True),
    "registry": Table(
        what="names, groups, idempotency keys, series, connections, suspensions and limits",
        output="RegistryTable",
        keys=("list", "entry"),
        decide=of_lists(
            {
                **dict.fromkeys(("name", "group", "request", "job", "group-job"), Decision.COPY),
                **dict.fromkeys(OF_SERIES, Decision.COPY),
                **dict.fromkeys(OF_CONNECTIONS, Decision.COPY),
                # An old note would have a secret deleted that a row names by now; a token is fetched anew.
                **dict.fromkeys(("connection-secrets", "connection-token", "connection-count"), Decision.LEAVE),
                # Whoever was suspended or limited stays so, and turns are not given twice. A circuit is probed.
                **dict.fromkeys(("flow", "flow-slots"), Decision.COPY),
                "rate": Decision.LEAVE,
            }
        ),
    ),
    "journal": Table(
        what="the histories",
        output="JournalTable",
        keys=("list", "entry"),
        # The counts of live schedules are sums: with some of their parts from another time they would be wrong.
        decide=of_lists(
            {
                **dict.fromkeys(("schedule", "owner", "series"), Decision.COPY),
                **dict.fromkeys(("live", "counted"), Decision.LEAVE),
            }
        ),
    ),
    "waiting": Table(
        what="what waits for its time",
        output="WaitingTable",
        keys=("bucket", "due"),
        decide=of_waiting,
        is_marked=True,
    ),
    "schedules": Table(
        what="the schedules", output="SchedulesTable", keys=("bucket", "due"), decide=of_schedules, is_marked=True
    ),
    "relaxed": Table(
        what="the relaxed schedules", output="RelaxedTable", keys=("bucket", "due"), decide=of_schedules, is_marked=True
    ),
}


def merged_shards(mine: Item | None, restored: Item) -> Item:
    """The higher highest shard, and the earlier first minute: every shard and minute ever used is swept."""
    if mine is None:
        return restored
    highest = max(int(mine["highest"]["N"]), int(restored["highest"]["N"]))
    since = min(int(mine["since"]["N"]), int(restored["since"]["N"]))
    return {**mine, "highest": {"N": str(highest)}, "since": {"N": str(since)}}


def merged_sweep(mine: Item | None, closed_until: int) -> Item:
    """A watermark that is not past this minute. The next tick sweeps the whole window."""
    if mine is not None:
        closed_until = min(closed_until, int(mine["closedUntil"]["N"]))
    zero = {"N": "0"}
    return {"name": {"S": "sweep"}, "closedUntil": {"N": str(closed_until)}, "sweptAt": zero, "wholeAt": zero}


def merged_policies(mine: Mapping[str, Item], theirs: Mapping[str, Item]) -> list[Item]:
    """The rows that say of all owners what holds for them. `mine` are rows of the stack, those of owners copied.

    Without `owners` nobody asks for the policy of an owner: it is true as soon as there is one.
    """
    names = sorted(name for name in theirs if name.startswith(OWNERS_WITH_POLICY))
    lists = [_united(mine.get(name), theirs[name]) for name in names]
    rows = [one[OWNER_POLICY] for one in (mine, theirs) if OWNER_POLICY in one]
    has_owners = any(row.get("owners", {}).get("BOOL") for row in rows)
    if has_owners or any(name.startswith(f"{OWNER_POLICY}#") for name in mine):
        rows.append({"name": {"S": OWNER_POLICY}, "v": {"N": str(VERSION)}})
        has_owners = True
    if not rows:
        return lists
    default = next((row for row in rows if "document" in row), rows[0])
    return [*lists, {**default, **({"owners": {"BOOL": True}} if has_owners else {})}]


def _united(mine: Item | None, restored: Item) -> Item:
    both = [set(row.get("owners", {}).get("SS", [])) for row in (mine or {}, restored)]
    names = sorted(set.union(*both))
    return {**restored, **({"owners": {"SS": names}} if names else {})}
