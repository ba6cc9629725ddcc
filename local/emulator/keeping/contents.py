"""All that the emulator holds, as it is saved."""

import re
from typing import Any, Final

from local.emulator.keeping.stores import BUCKETS, KINDS, NOT_KEPT, QUEUES, TABLES, kept, resources, service
from local.emulator.patches.streams import StreamPoller

Contents = dict[str, Any]
OF_SCHEDULES: Final = ("SchedulesTable", "RelaxedTable", "WaitingTable")
# The queues in which a schedule is on its way, by their logical ids.
ON_THE_WAY: Final = re.compile(r"DelayerQueue|SuspectsQueue|Executor[a-z]+Queue")


def collected(streams: StreamPoller) -> Contents:
    """Collects what has to come back: names by logical id, records by kind, versions of objects, and records of
    streams.
    """
    with service("sqs")._queues_lock:
        queues = dict(kept(QUEUES))
        for queue in queues.values():
            queue["messages"] = [dict(message) for message in queue["messages"]]
    records = {kind.name: queues if kind is QUEUES else dict(kept(kind)) for kind in KINDS}
    s3 = service("s3")
    names = set(records[BUCKETS.name])
    return {
        "resources": resources(),
        "records": records,
        "versioning": {name: how for name, how in s3._bucket_versioning.items() if name in names},
        "versions": [
            [bucket, key, versions] for (bucket, key), versions in s3._object_versions.items() if bucket not in NOT_KEPT
        ],
        "streams": [
            {"table": mapping.table, "function": mapping.function, "records": left}
            for mapping in list(streams.mappings.values())
            if (left := mapping.left())
        ],
    }


def waiting_in(contents: Contents) -> int:
    """How many schedules wait: in the tables, and on their way. Delayer's own canaries are among them."""
    tables, queues = contents["records"][TABLES.name], contents["records"][QUEUES.name]
    names: dict[str, str] = contents["resources"]
    in_tables = [tables[names[one]]["items"] for one in OF_SCHEDULES if names.get(one) in tables]
    on_the_way = [queues[name] for one, name in names.items() if ON_THE_WAY.fullmatch(one) and name in queues]
    rows = sum(len(rows) for items in in_tables for rows in items.values())
    return rows + sum(len(queue["messages"]) for queue in on_the_way)


def carried_in(contents: Contents) -> int:
    """How many stream records are saved because no function could handle them before the stop."""
    return sum(len(stream["records"]) for stream in contents["streams"])
