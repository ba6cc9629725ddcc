"""The control rows of signatures: `signing-key`, and `signing#<owner>` for each owner who has rotated."""

import base64
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, check_version, number
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, item_in_the_way
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.signing.keys import SigningKey, SigningKeys
from delayer.core.signing.rotation import Rotation, Superseded
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
KEYS: Final = "signing-key"


@frozen(kw_only=True)
class DynamoSigningRows:
    """Port SigningRows."""

    dynamodb: "DynamoDBClient"
    table: str

    def signing_keys(self) -> SigningKeys:
        row = self._read(KEYS)
        return keys_from(row) if row else SigningKeys()

    def write_signing_keys(self, keys: SigningKeys, over: SigningKeys) -> bool:
        return self._write(keys_item(keys), over.newest)

    def rotation(self, owner: str) -> Rotation:
        row = self._read(f"signing#{owner}")
        return rotation_from(row) if row else Rotation()

    def write_rotation(self, owner: str, rotation: Rotation, over: Rotation) -> bool:
        return self._write(rotation_item(owner, rotation), over.version if over.rotated_at else 0)

    def _read(self, name: str) -> Item | None:
        key: Item = {"name": {"S": name}}
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read what signs: {error}") from error
        return answer.get("Item")

    def _write(self, item: Item, over: int) -> bool:
        """Over the row with this newest version; 0: only if there is none."""
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(newest)"}
        if over:
            condition = {
                "ConditionExpression": "newest = :over",
                "ExpressionAttributeValues": {":over": {"N": str(over)}},
            }
        try:
            self.dynamodb.put_item(
                TableName=self.table, Item=item, ReturnValuesOnConditionCheckFailure="ALL_OLD", **condition
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write what signs: {error}") from error
            return item_in_the_way(error) == item  # an earlier try of this very write, whose answer was lost
        return True


def keys_item(keys: SigningKeys) -> Item:
    """The row `signing-key`."""
    return {
        "name": {"S": KEYS},
        "v": {"N": str(VERSION)},
        "newest": {"N": str(keys.newest)},
        "keys": {"L": [{"M": _key_item(key)} for key in keys.keys]},
    }


def _key_item(key: SigningKey) -> Item:
    return {
        "version": {"N": str(key.version)},
        "secret": {"S": base64.b64encode(key.secret).decode()},
        "createdAt": {"N": str(key.created_at)},
        "currentFrom": {"N": str(key.current_from)},
        **({} if key.signs_until is None else {"signsUntil": {"N": str(key.signs_until)}}),
    }


def keys_from(row: StoredItem) -> SigningKeys:
    """The inverse of keys_item. With a row that this code cannot read, nothing is signed: Unavailable."""
    try:
        check_version(row, VERSION)
        return SigningKeys(keys=tuple(_key_from(one["M"]) for one in row["keys"]["L"]))
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"signing keys that cannot be read: {type(error).__name__}") from error


def _key_from(item: Any) -> SigningKey:
    return SigningKey(
        version=number(item, "version"),
        secret=base64.b64decode(item["secret"]["S"]),
        created_at=number(item, "createdAt"),
        current_from=number(item, "currentFrom"),
        signs_until=number(item, "signsUntil") if "signsUntil" in item else None,
    )


def rotation_item(owner: str, rotation: Rotation) -> Item:
    """The row of an owner. It holds no secret."""
    before = [
        {"M": {"version": {"N": str(one.version)}, "signsUntil": {"N": str(one.signs_until)}}}
        for one in rotation.before
    ]
    return {
        "name": {"S": f"signing#{owner}"},
        "v": {"N": str(VERSION)},
        "newest": {"N": str(rotation.version)},
        "rotatedAt": {"N": str(rotation.rotated_at)},
        "before": {"L": before},
    }


def rotation_from(row: StoredItem) -> Rotation:
    """The inverse of rotation_item. A row that this code cannot read is not taken for none: Unavailable."""
    try:
        check_version(row, VERSION)
        return Rotation(
            version=int(row["newest"]["N"]),
            rotated_at=int(row["rotatedAt"]["N"]),
            before=tuple(
                Superseded(version=int(one["M"]["version"]["N"]), signs_until=int(one["M"]["signsUntil"]["N"]))
                for one in row["before"]["L"]
            ),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a rotation that cannot be read: {error!r}") from error
