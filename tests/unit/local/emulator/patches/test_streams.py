"""A delete that plays DynamoDB's TTL names the service in the stream; no other delete does."""

import contextvars
import logging
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.patches.streams import (
    EXPIRED,
    StreamMapping,
    StreamPoller,
    count_to_forget,
    is_too_old,
    match_what_is_absent,
    name_who_expires,
)

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


def change(number: int) -> dict[str, Any]:
    """A record of a stream."""
    keys = {"id": {"S": str(number)}}
    return {"dynamodb": {"Keys": keys, "SequenceNumber": str(number), "ApproximateCreationDateTime": 1}}


class Stream:
    """ministack's modules, with a stream of these records and one mapping."""

    def __init__(self, *records: dict[str, Any]) -> None:
        self.records = list(records)
        self.handled: list[str] = []
        self.done = threading.Semaphore(0)
        self.may_handle = threading.Event()
        self.mapped = {
            "UUID": "u",
            "FunctionName": "arn:aws:lambda:us-east-1:000000000000:function:delayer-stream-enqueuer",
            "EventSourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/1",
            "StartingPosition": "TRIM_HORIZON",
            "BatchSize": 1,
        }
        service: Any = SimpleNamespace(
            parse_arn=lambda arn: arn,
            logger=logging.getLogger(),
            _dynamodb_stream_table_from_arn_spec=lambda _spec: ("t", ""),
            _dynamodb_stream_positions={},
            _iter_all_esms=lambda: [("0", "r", self.mapped)],
            _apply_filter_criteria=lambda records, _esm: [one for one in records if not one.get("filtered")],
            _get_func_record_for_qualifier=lambda *_: ({}, {}),
            _execute_function=self.execute,
            _request_account_id=contextvars.ContextVar("account"),
            _request_region=contextvars.ContextVar("region"),
        )
        dynamodb: Any = SimpleNamespace(
            stream_start_position=lambda _table: 0,
            stream_end_position=lambda _table: len(self.records),
            stream_records_since=lambda _table, since, _most: self.records[since:],
        )
        self.poller = StreamPoller(service, dynamodb)

    def mapping(self) -> StreamMapping:
        """It is not started yet."""
        return StreamMapping(self.poller, self.mapped, ("0", "r"))

    def unmap(self) -> None:
        """Its threads end, which would otherwise outlive the test."""
        self.mapped = self.mapped | {"UUID": "another"}

    def execute(self, _function: Any, event: Any) -> dict[str, Any]:
        self.may_handle.wait(10)
        self.handled += [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
        self.done.release()
        return {"body": None}


def test_what_a_mapping_is_not_done_with_is_not_forgotten() -> None:
    """Read or not: its place is that of the first record whose batch is not done."""
    stream = Stream(change(1), change(2) | {"filtered": True}, change(3))
    mapping = stream.mapping()
    mapping.start()
    mapping.wake.set()
    until(lambda: mapping.read_until == 3)
    assert mapping.checkpoint() == 0, "the first is being handled"
    stream.may_handle.set()
    until(lambda: mapping.checkpoint() == 3)
    assert stream.handled == ["1", "3"]
    stream.unmap()


def until(is_so: Callable[[], bool]) -> None:
    """Other threads do it."""
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


ABSENT = {"image": {"kind": {"S": [{"exists": False}]}}}


@pytest.mark.parametrize(
    ("record", "pattern", "fits"),
    [
        ({"image": {"kind": {"S": "a"}}}, ABSENT, False),
        ({"image": {"state": {"S": "a"}}}, ABSENT, True),
        ({}, ABSENT, True),
        ({}, {"image": {"kind": {"S": [{"exists": True}]}}}, False),
        ({"image": None}, {"image": {"kind": {"S": ["a"]}}}, False),
        ({"image": {"kind": {"S": "a"}}}, {"image": {"kind": {"S": ["a"]}}}, True),
    ],
)
def test_what_is_absent_is_absent_also_where_nothing_could_hold_it(record: Any, pattern: Any, fits: bool) -> None:
    """By ministack's own matching, with this correction of it."""
    service = SimpleNamespace()

    def own(record: dict[str, Any], pattern: dict[str, Any]) -> bool:
        """Each of a pattern's fields, as ministack looks at them."""
        for name, part in pattern.items():
            if isinstance(part, dict):
                held = record.get(name)
                if not isinstance(held, dict) or not service._match_esm_filter(held, part):
                    return False
            elif not any(
                one["exists"] == (name in record) if isinstance(one, dict) else record.get(name) == one for one in part
            ):
                return False
        return True

    service._match_esm_filter = own
    match_what_is_absent(service)
    assert service._match_esm_filter(record, pattern) == fits
