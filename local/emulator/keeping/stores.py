"""Where ministack holds data: tables, queues, secrets and buckets, and which of them belong to the stack."""

import importlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from local.deployment.deploy import CODE_BUCKET
from local.deployment.settings import STACK_NAME

Record = dict[str, Any]


@frozen(kw_only=True)
class Kind:
    """One kind of what holds data."""

    name: str  # in words
    module: str  # of ministack's services
    store: str  # its name in the module
    content: tuple[str, ...]  # what of a record is data; the rest is what the template says
    left_out: tuple[str, ...] = ()  # what of a record ministack makes anew

    def records(self) -> Any:
        """ministack's own, by name."""
        return getattr(service(self.module), self.store)


TABLES: Final = Kind(
    name="table",
    module="dynamodb",
    store="_tables",
    content=("items", "ItemCount", "TableSizeBytes"),
    left_out=("_index_members",),
)
QUEUES: Final = Kind(name="queue", module="sqs", store="_queues", content=("messages", "dedup_cache", "fifo_seq"))
SECRETS: Final = Kind(name="secret", module="secretsmanager", store="_secrets", content=("Versions",))
BUCKETS: Final = Kind(name="bucket", module="s3", store="_buckets", content=("objects",))
KINDS: Final = (TABLES, QUEUES, SECRETS, BUCKETS)
NOT_KEPT: Final = {CODE_BUCKET}


def service(name: str) -> Any:
    """A module of ministack's. Imported late: it reads its environment when it is imported."""
    return importlib.import_module(f"ministack.services.{name}")


def resources() -> dict[str, str]:
    """The resources of Delayer's stack: logical id -> the name that ministack has for it."""
    stack = service("cloudformation")._stacks.get(STACK_NAME) or {}
    found = stack.get("_resources", {}).items()
    return {logical_id: resource.get("PhysicalResourceId", "") for logical_id, resource in found}


def is_full(kind: Kind, record: Record) -> bool:
    """Whether there is data in it."""
    return bool(record.get(kind.content[0]))


def to_json(kind: Kind, record: Record) -> Record:
    """Makes JSON of a record, as far as JSON can hold it: ministack lets go of no partition, and a FIFO queue remembers
    tuples.
    """
    kept = {name: value for name, value in record.items() if name not in kind.left_out}
    if kind is TABLES:
        kept["items"] = {partition: dict(rows) for partition, rows in list(kept["items"].items()) if rows}
    if "dedup_cache" in kept:
        kept["dedup_cache"] = [[key, value] for key, value in kept["dedup_cache"].items()]
    return kept


def from_json(kind: Kind, record: Record) -> Record:
    """The reverse."""
    if kind is TABLES:
        return {**record, "items": defaultdict(dict, record["items"])}
    if kind is not QUEUES:
        return record
    for message in record["messages"]:
        message["dedup_cache_key"] = hashable(message.get("dedup_cache_key"))
    return {**record, "dedup_cache": {hashable(key): value for key, value in record["dedup_cache"]}}


def hashable(key: Any) -> Any:
    """JSON makes a list of a tuple."""
    return tuple(key) if isinstance(key, list) else key


def kept(kind: Kind) -> Iterator[tuple[str, Record]]:
    """The records of a kind, by name, as JSON has them."""
    for name, record in kind.records().items():
        if name not in NOT_KEPT:
            yield name, to_json(kind, record)
