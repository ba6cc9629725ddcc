"""Fills saved contents into the stack that was created anew: what the template says is new, the data is old."""

import time
from typing import Any, Final

from local.emulator.keeping.contents import Contents
from local.emulator.keeping.stores import KINDS, QUEUES, TABLES, Kind, Record, from_json, is_full, resources, service
from local.emulator.patches.queues.visibility_index import VisibilityIndex
from local.emulator.patches.streams import StreamPoller

NO_SORT: Final = "__no_sort__"  # ministack's sort key for a table that has none
REGISTERED: Final = "actions"  # a control row that the deployment writes: it knows the types of this template
KEYS: Final = ("id-key", "signing-key")  # made while the stack is created
CLAIM: Final = "owner-claim"  # another one: by what the owners of all schedules are named


class Misfit(Exception):
    """The state does not fit to the stack. The text is for the user, and continues "The state … cannot be used: "."""


def fill_stack(contents: Contents, saved_at: float, index: VisibilityIndex, streams: StreamPoller) -> None:
    """Put everything in its place. Raises Misfit before anything is changed, if data has no place any more."""
    places = places_of(contents["resources"], resources())
    check(contents, places)
    for kind in KINDS:
        for name, record in contents["records"][kind.name].items():
            put(kind, places.get(name, name), from_json(kind, record), name in places)
    service("sqs")._rebuild_queue_name_index()
    put_objects(contents, places)
    now = time.time()
    pause = max(0.0, now - saved_at)
    own = set(places.values())
    for queue in QUEUES.records().values():
        stand_still(queue, pause)
        if queue["url"] in own:
            give_back(queue, now)
        for message in queue["messages"]:
            index.note(queue["url"], message["visible_at"])
    for stream in contents["streams"]:
        table = places.get(stream["table"]) or stream["table"]
        streams.carried.setdefault((table, stream["function"]), []).extend(stream["records"])  # of two mappings, too


def places_of(old: dict[str, str], new: dict[str, str]) -> dict[str, str | None]:
    """The names that the old stack's resources have in the new one; None for what it has no more.

    By the logical id: the names of buckets are drawn anew.
    """
    return {name: new.get(logical_id) for logical_id, name in old.items()}


def check(contents: Contents, places: dict[str, str | None]) -> None:
    """Whether each place that held data is there, and fits."""
    for kind in KINDS:
        for name, record in contents["records"][kind.name].items():
            if name in places and is_full(kind, record):
                check_place(kind, name, record, places[name])
    functions = {esm["FunctionName"].rpartition(":")[2] for esm in service("lambda_svc")._esms.values()}
    for stream in contents["streams"]:
        if stream["function"] not in functions:
            raise Misfit(f"records of a stream wait for the function {stream['function']}, which the stack has no more")
    before = contents["records"][TABLES.name].get(contents["resources"].get("ControlTable", ""))
    claims = [claim_of(before), claim_of(TABLES.records().get(control_table()))]
    if all(claims) and claims[0] != claims[1]:
        raise Misfit("its owners are named by another claim, or by another issuer, of their tokens")


def check_place(kind: Kind, name: str, record: Record, place: str | None) -> None:
    """Whether the stack has such a place."""
    found = kind.records().get(place) if place else None
    if found is None:
        raise Misfit(f"the {kind.name} {name} holds data, and the stack has it no more, by its parameters or its code")
    if kind is TABLES and found["KeySchema"] != record["KeySchema"]:
        raise Misfit(f"the table {name} has another key than before")


def put(kind: Kind, place: str | None, record: Record, is_of_stack: bool) -> None:
    """The data alone into what is of the stack; the whole of what somebody has made beside it."""
    records = kind.records()
    if not is_of_stack:
        records[place] = record
    elif place in records:
        data = {key: record[key] for key in kind.content if key in record}
        if kind is TABLES and place == control_table():
            keep_deployed(data["items"], records[place]["items"])
        records[place].update(data)


def keep_deployed(saved: dict[str, Any], deployed: dict[str, Any]) -> None:
    """The types of actions are those of this deployment, as after each; keys are, if none were saved."""
    saved.pop(REGISTERED, None)
    for name in (REGISTERED, *KEYS):
        if name in deployed:
            saved.setdefault(name, deployed[name])


def put_objects(contents: Contents, places: dict[str, str | None]) -> None:
    """Puts the facts that S3 knows beside the objects."""
    s3 = service("s3")
    for name, versioning in contents["versioning"].items():
        if name not in places:
            s3._bucket_versioning[name] = versioning
    for bucket, key, versions in contents["versions"]:
        s3._object_versions[places.get(bucket, bucket), key] = versions


def control_table() -> str:
    """The name of the control table in the new stack."""
    return resources().get("ControlTable", "")


def stand_still(queue: Record, pause: float) -> None:
    """A queue keeps a message for days. While nothing runs it gets no older, or a long stop would lose it."""
    for message in queue["messages"]:
        for name in ("sent_at", "enqueued_at", "first_receive_at"):
            if message.get(name):
                message[name] += pause


def give_back(queue: Record, now: float) -> None:
    """A message that a function had received is visible at once: no function survives a stop, so none of them ends with
    it.

    What is delayed was never received, and stays so. In a queue that somebody has made, a program of their own may
    still work on what it has received.
    """
    for message in queue["messages"]:
        if message.get("receive_count") and message["visible_at"] > now:
            message["visible_at"] = now


def claim_of(table: Record | None) -> tuple[Any, Any] | None:
    """By what a control table says that owners are named."""
    row = ((table or {}).get("items") or {}).get(CLAIM, {}).get(NO_SORT)
    return (row.get("claim"), row.get("issuer")) if row else None
