"""The control rows in DynamoDB: `shards`, `sweep`, `heartbeat`, `id-key`."""

import base64
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.schedule.bucket import Progress, Shards
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule_id import FIRST_VERSION, IdKey, IdKeys
from delayer.core.schedule.table_change import Heartbeat, Heartbeats
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@frozen(kw_only=True)
class DynamoControl:
    """Port Control."""

    dynamodb: "DynamoDBClient"
    table: str

    def shards(self) -> Shards | None:
        row = self._read("shards")
        return Shards(highest=int(row["highest"]["N"]), since=int(row["since"]["N"])) if row else None

    def raise_shards(self, wanted: Shards) -> Shards:
        self._write(
            "shards",
            "SET highest = :highest, since = if_not_exists(since, :since)",
            {":highest": wanted.highest, ":since": wanted.since},
            "attribute_not_exists(highest) OR highest < :highest",
        )
        current = self.shards()
        if current is None:
            raise Unavailable("the control row of the shards is missing")
        return current

    def id_keys(self) -> IdKeys:
        row = self._read("id-key")
        return keys_from(row) if row else IdKeys()

    def write_id_keys(self, keys: IdKeys, over: IdKeys) -> bool:
        """A row of the first form has one key, and does not say so."""
        one_key = "(attribute_exists(#name) AND attribute_not_exists(newest)) OR newest = :newest"
        others = "newest = :newest" if over.newest > FIRST_VERSION else one_key
        condition: dict[str, Any] = {"ConditionExpression": others if over.keys else "attribute_not_exists(#name)"}
        if over.newest <= FIRST_VERSION:
            condition["ExpressionAttributeNames"] = {"#name": "name"}
        if over.keys:
            condition["ExpressionAttributeValues"] = {":newest": {"N": str(over.newest)}}
        try:
            self.dynamodb.put_item(TableName=self.table, Item=keys_item(keys), **condition)
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write id keys: {error}") from error
            return False
        return True

    def progress(self) -> Progress | None:
        row = self._read("sweep")
        if not row:
            return None
        return Progress(
            closed_until=int(row["closedUntil"]["N"]),
            swept_at=int(row["sweptAt"]["N"]),
            whole_at=int(row["wholeAt"]["N"]),
        )

    def advance(self, progress: Progress) -> None:
        self._write(
            "sweep",
            "SET closedUntil = :closed, sweptAt = :swept, wholeAt = :whole",
            {":closed": progress.closed_until, ":swept": progress.swept_at, ":whole": progress.whole_at},
            "attribute_not_exists(closedUntil) OR closedUntil <= :closed",
        )

    def heartbeats(self) -> Heartbeats:
        row = self._read("heartbeat") or {}
        # Older code notes `seenAt` alone: as soon as it is back, no lane is awaited that it does not know.
        reads_lanes = "seenAt" in row and row.get("readsLanes") == row["seenAt"]
        awaited = row.get("awaited", {}).get("SS", []) if reads_lanes else []
        return Heartbeats(
            seen=int(row["seenAt"]["N"]) if "seenAt" in row else None,
            awaited=tuple(_heartbeat(one) for one in sorted(awaited)),
            reads_lanes=reads_lanes,
        )

    def note_heartbeat(self, sent_at: Millis) -> None:
        self._write(
            "heartbeat",
            "SET seenAt = :at, readsLanes = :at",
            {":at": sent_at},
            "attribute_not_exists(seenAt) OR seenAt < :at",
        )

    def await_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        self._change_awaited("ADD", heartbeats)

    def note_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        self._change_awaited("DELETE", heartbeats)

    def _change_awaited(self, how: str, heartbeats: Collection[Heartbeat]) -> None:
        """A set: it is the same how often this is done, and others may change it at the same moment."""
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key={"name": {"S": "heartbeat"}},
                UpdateExpression=f"{how} awaited :these",
                ExpressionAttributeValues={":these": {"SS": sorted(map(_awaited, heartbeats))}},
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"write control row heartbeat: {error}") from error

    def _read(self, name: str) -> Item | None:
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key={"name": {"S": name}}, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read control row {name}: {error}") from error
        return answer.get("Item")

    def _write(self, name: str, update: str, values: dict[str, int], condition: str) -> None:
        """A row that is ahead already stays as it is."""
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key={"name": {"S": name}},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeValues={key: {"N": str(value)} for key, value in values.items()},
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write control row {name}: {error}") from error


def _awaited(heartbeat: Heartbeat) -> str:
    """Sorted as they were sent."""
    return f"{heartbeat.sent_at:013d}#{heartbeat.lane}"


def _heartbeat(awaited: str) -> Heartbeat:
    sent_at, _, lane = awaited.partition("#")
    return Heartbeat(sent_at=int(sent_at), lane=lane)


def keys_item(keys: IdKeys) -> Item:
    """The row `id-key`. Code that knows one key only reads `key`: the first, as long as it is there."""
    stored: Item = {"name": {"S": "id-key"}, "newest": {"N": str(keys.newest)}}
    stored["keys"] = {"L": [{"M": _key_item(key)} for key in keys.keys]}
    if keys.keys[0].version == FIRST_VERSION:
        stored["key"] = {"S": base64.b64encode(keys.keys[0].secret).decode()}
    return stored


def _key_item(key: IdKey) -> Item:
    return {
        "version": {"N": str(key.version)},
        "secret": {"S": base64.b64encode(key.secret).decode()},
        "createdAt": {"N": str(key.created_at)},
        "writesFrom": {"N": str(key.writes_from)},
    }


def keys_from(row: StoredItem) -> IdKeys:
    """The inverse of keys_item, and of the first form, which has `key` only."""
    if "keys" not in row:
        secret = base64.b64decode(row["key"]["S"])
        return IdKeys(keys=(IdKey(version=FIRST_VERSION, secret=secret, created_at=0, writes_from=0),))
    return IdKeys(
        keys=tuple(
            IdKey(
                version=int(one["M"]["version"]["N"]),
                secret=base64.b64decode(one["M"]["secret"]["S"]),
                created_at=int(one["M"]["createdAt"]["N"]),
                writes_from=int(one["M"]["writesFrom"]["N"]),
            )
            for one in row["keys"]["L"]
        )
    )
