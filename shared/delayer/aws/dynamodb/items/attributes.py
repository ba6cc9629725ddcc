"""Items as DynamoDB's client takes and gives them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from delayer.core.schedule.malformed import UnknownVersion

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item: TypeAlias = dict[str, AttributeValueTypeDef]
    StoredItem: TypeAlias = Mapping[str, AttributeValueTypeDef]
else:
    Item = StoredItem = dict

ONLY = "-"  # the entry of a list that has one


def text(item: StoredItem, name: str) -> str:
    """A string attribute, empty if it is left out."""
    return item.get(name, {}).get("S", "")


def number(item: StoredItem, name: str) -> int:
    """A number attribute, 0 if it is left out."""
    return int(item.get(name, {}).get("N", 0))


def check_version(item: StoredItem, version: int) -> None:
    """Raises UnknownVersion for an item of another version, KeyError for one without."""
    found = item["v"]["N"]
    if found != str(version):
        raise UnknownVersion(f"version {found}; this code reads version {version}")


def entry_key(entries: str, entry: str) -> Item:
    """The key of an entry in one of the tables that hold lists."""
    return {"list": {"S": entries}, "entry": {"S": entry}}
