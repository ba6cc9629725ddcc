"""Puts saved contents into the stack that was created anew: what the template says is new, the data is old."""

import time
from typing import Any, Final

from local.emulator.keeping.contents import Contents
from local.emulator.keeping.stores import KINDS, QUEUES, TABLES, Kind, Record, from_json, is_full, resources, service
from local.emulator.patches.queues.visibility_index import VisibilityIndex
from local.emulator.patches.streams import StreamPoller

NO_SORT: Final = "__no_sort__"  # ministack's sort key for a table that has none
REGISTERED: Final = "actions"  # a control row that the deployment writes: it knows the types of this template
CLAIM: Final = "owner-claim"  # another one: by what the owners of all schedules are named


class Misfit(Exception):
    """The state does not fit to the stack. The text is for the user, and continues "The state … cannot be used: "."""


def put_back(contents: Contents, saved_at: float, index: VisibilityIndex, streams: StreamPoller) -> None:
    """Put everything back. Raises Misfit before anything is changed, if there is data that has no place any more."""
    new, old = resources(), contents["resources"]
    check(contents, new)
    for kind in KINDS:
        for name, record in contents["records"][kind.name].items():
            put(kind, name, from_json(kind, record), name in old.values())
    put_objects(contents)
    pause = max(0.0, time.time() - saved_at)
    for queue in QUEUES.records().values():
        stand_still(queue, pause)
        for message in queue["messages"]:
            index.note(queue["url"], message["visible_at"])
    for stream in contents["streams"]:
        streams.carried[stream["table"], stream["function"]] = stream["records"]


def check(contents: Contents, new: dict[str, str]) -> None:
    """Whether each place that held data is there, and fits."""
    old = set(contents["resources"].values())
    for kind in KINDS:
        for name, record in contents["records"][kind.name].items():
            if name in old and is_full(kind, record):
                check_place(kind, name, record, new)
    functions = {esm["FunctionName"].rpartition(":")[2] for esm in service("lambda_svc")._esms.values()}
    for stream in contents["streams"]:
        if stream["function"] not in functions:
            raise Misfit(f"records of a stream wait for the function {stream['function']}, which the stack has no more")
    claims = [claim_of(contents["records"][TABLES.name].get(new.get("ControlTable", ""))), claim_of(control(new))]
    if all(claims) and claims[0] != claims[1]:
        raise Misfit("its owners are named by another claim, or by another issuer, of their tokens")


def check_place(kind: Kind, name: str, record: Record, new: dict[str, str]) -> None:
    """Whether the stack has such a place."""
    place = kind.records().get(name)
    if place is None or name not in new.values():
        raise Misfit(
            f"the {kind.name} {name} holds data, and the stack has it no more (other parameters, or other code)"
        )
    if kind is TABLES and place["KeySchema"] != record["KeySchema"]:
        raise Misfit(f"the table {name} has another key than before")


def put(kind: Kind, name: str, record: Record, is_of_stack: bool) -> None:
    """The data alone into what is of the stack; the whole of what somebody has made beside it."""
    place = kind.records().get(name)
    if not is_of_stack:
        kind.records()[name] = record
    elif place is not None:
        data = {key: record[key] for key in kind.content if key in record}
        if kind is TABLES and name == resources().get("ControlTable"):
            keep_registered(data["items"], place["items"])
        place.update(data)


def keep_registered(saved: dict[str, Any], deployed: dict[str, Any]) -> None:
    """The types of actions are those of this deployment, as after each."""
    saved.pop(REGISTERED, None)
    if REGISTERED in deployed:
        saved[REGISTERED] = deployed[REGISTERED]


def put_objects(contents: Contents) -> None:
    """What S3 knows beside the objects."""
    s3 = service("s3")
    own = set(resources().values())
    for name, versioning in contents["versioning"].items():
        if name not in own:
            s3._bucket_versioning[name] = versioning
    for bucket, key, versions in contents["versions"]:
        s3._object_versions[bucket, key] = versions


def stand_still(queue: Record, pause: float) -> None:
    """A queue keeps a message for days. While nothing runs it gets no older, or a long stop would lose it."""
    for message in queue["messages"]:
        for name in ("sent_at", "enqueued_at", "first_receive_at"):
            if message.get(name):
                message[name] += pause


def control(new: dict[str, str]) -> Record | None:
    """The control table of the new stack."""
    table: Record | None = TABLES.records().get(new.get("ControlTable", ""))
    return table


def claim_of(table: Record | None) -> tuple[Any, Any] | None:
    """By what a control table says that owners are named."""
    row = ((table or {}).get("items") or {}).get(CLAIM, {}).get(NO_SORT)
    return (row.get("claim"), row.get("issuer")) if row else None
