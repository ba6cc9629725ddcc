"""A delete that plays DynamoDB's TTL names the service in the stream; no other delete does."""

from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.patches.streams import EXPIRED, name_who_expires

BY_TTL = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
DELETE, BUILD = "_delete_item", "_build_change_record"  # ministack's names


class Table:
    """As ministack's module: it makes a stream record for each delete."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.module = SimpleNamespace(**{DELETE: self.remove, BUILD: lambda *arguments: {"eventName": arguments[1]}})
        name_who_expires(self.module)

    def delete(self, **data: Any) -> str:
        """As a request to the emulator."""
        answer: str = getattr(self.module, DELETE)(data)
        return answer

    def remove(self, data: dict[str, Any]) -> str:
        """What ministack does then."""
        if data.get("fails"):
            raise ValueError("refused")
        self.records.append(getattr(self.module, BUILD)({}, "REMOVE", {}, None, "NEW_AND_OLD_IMAGES"))
        return "answer"


def test_only_the_expiry_is_the_service() -> None:
    table = Table()
    for condition in (EXPIRED, None, "expiresAt < :then"):
        assert table.delete(ConditionExpression=condition) == "answer"
    assert [record.get("userIdentity") for record in table.records] == [BY_TTL, None, None]


def test_a_delete_that_fails_leaves_nothing_behind() -> None:
    table = Table()
    with pytest.raises(ValueError, match="refused"):
        table.delete(ConditionExpression=EXPIRED, fails=True)
    table.delete()
    assert [record.get("userIdentity") for record in table.records] == [None]
