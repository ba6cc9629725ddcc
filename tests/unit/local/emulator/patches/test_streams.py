"""A delete that plays DynamoDB's TTL names the service in the stream; no other delete does."""

from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.patches.streams import EXPIRED, count_to_forget, is_too_old, name_who_expires

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


def record_of(second: float) -> dict[str, Any]:
    return {"dynamodb": {"ApproximateCreationDateTime": second}}


@pytest.mark.parametrize(("read", "before", "forgotten"), [(3, 10, 2), (1, 10, 1), (0, 10, 0), (3, 99, 3), (9, 99, 4)])
def test_what_is_forgotten_was_read_by_all_and_is_old(read: int, before: float, forgotten: int) -> None:
    records = [record_of(second) for second in (1, 9, 10, 11)]
    assert count_to_forget(records, read, before) == forgotten


@pytest.mark.parametrize(
    ("at_most", "is_given_up"), [(None, False), (-1, False), (60, True), ("60", True), (61, False), (0, False)]
)
def test_a_record_that_fails_is_given_up_when_the_mapping_says_so(at_most: object, is_given_up: bool) -> None:
    assert is_too_old(record_of(100.0), at_most, 160.5) == is_given_up
