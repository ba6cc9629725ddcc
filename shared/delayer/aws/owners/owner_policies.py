"""The owner policies in DynamoDB: the control rows `owner-policy`, the default, and `owner-policy#<owner>`.

The owners that have one stand in the sets `owner-policies#<0 to f>`, so that they are listed without a Scan.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, check_version, number, text
from delayer.aws.dynamodb.items.requests import updated
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.core.owners.owner_policy import NO_POLICY, StoredOwnerPolicy, from_text, to_text
from delayer.ports.owner_policies import DEFAULT
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
ROW: Final = "owner-policy"
NAMES: Final = "owner-policies"
PARTS: Final = "0123456789abcdef"  # of the list of owners: an item takes 400 KB, and a name has up to one


@frozen(kw_only=True)
class DynamoOwnerPolicies:
    """Port OwnerPolicies."""

    dynamodb: "DynamoDBClient"
    table: str

    def owner_policy(self, owner: str) -> StoredOwnerPolicy | None:
        item = self._get(row_of(owner))
        try:
            return from_item(item) if item else None
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise Unavailable(f"an owner policy that cannot be read: {error!r}") from error

    def write_owner_policy(self, owner: str, new: StoredOwnerPolicy, over: int) -> bool:
        """That an owner has one is noted first: a crash in between leaves a note too many, which costs a read."""
        if owner != DEFAULT:
            self._update(names_of(owner), "ADD #owners :owner", values={":owner": {"SS": [owner]}})
            self._update(ROW, "SET #owners = :true, #v = :v", {"#v": "v"}, {":true": {"BOOL": True}, ":v": _V})
        return self._update(
            row_of(owner),
            "SET document = :document, revision = :revision, changedAt = :at, #by = :by, #v = :v",
            {"#by": "by", "#v": "v"},
            {
                ":document": {"S": to_text(new.policy or NO_POLICY)},
                ":revision": {"N": str(new.revision)},
                ":at": {"N": str(new.changed_at)},
                ":by": {"S": new.by},
                ":v": _V,
            },
            over,
        )

    def remove_owner_policy(self, owner: str, over: int) -> bool:
        """The row of an owner stays, empty: its name is listed, and whoever reads it finds no policy."""
        return over > 0 and self._update(
            row_of(owner), "REMOVE document, revision, changedAt, #by", {"#by": "by"}, {}, over
        )

    def owners_with_policy(self) -> Sequence[str]:
        rows = [self._get(f"{NAMES}#{part}") or {} for part in PARTS]
        return sorted(name for row in rows for name in row.get("owners", {}).get("SS", []))

    def _get(self, name: str) -> Item | None:
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key={"name": {"S": name}}, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read owner policy: {error}") from error
        return answer.get("Item")

    def _update(
        self,
        name: str,
        update: str,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
        over: int | None = None,
    ) -> bool:
        """Whether the condition held. Without `over`, there is none."""
        more = {"#owners": "owners"} if "#owners" in update else {}
        arguments: dict[str, Any] = {"ExpressionAttributeNames": {**more, **(names or {})}}
        given = dict(values or {})
        if over is not None:
            arguments["ConditionExpression"] = "revision = :over" if over else "attribute_not_exists(revision)"
            given |= {":over": {"N": str(over)}} if over else {}
        return updated(
            self.dynamodb,
            "write owner policy",
            TableName=self.table,
            Key={"name": {"S": name}},
            UpdateExpression=update,
            ExpressionAttributeValues=given,
            **arguments,
        )


_V: Final[Mapping[str, str]] = {"N": str(VERSION)}


def row_of(owner: str) -> str:
    """The name of a control row. The longest owner leaves room in a key: it has MAX_OWNER bytes, and a key 2,048."""
    return ROW if owner == DEFAULT else f"{ROW}#{owner}"


def names_of(owner: str) -> str:
    """The control row in whose list the owner stands."""
    return f"{NAMES}#{hashlib.sha256(owner.encode()).hexdigest()[0]}"


def from_item(item: StoredItem) -> StoredOwnerPolicy | None:
    """What write_owner_policy has written; None for a row that says nothing any more. Raises ValueError."""
    check_version(item, VERSION)
    has_owners = bool(item.get("owners", {}).get("BOOL"))
    document = text(item, "document")
    if not document and not has_owners:
        return None
    return StoredOwnerPolicy(
        policy=from_text(document) if document else None,
        revision=number(item, "revision"),
        changed_at=number(item, "changedAt"),
        by=text(item, "by"),
        has_owners=has_owners,
    )
