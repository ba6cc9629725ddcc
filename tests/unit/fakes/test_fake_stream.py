"""The fake of a DynamoDB stream under an event source mapping: what Lambda's documentation says of one.

https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
"""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.memory import ManualClock
from delayer.schedule.instants import HOUR
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange, known
from tests.fakes.streams import MemoryStream
from tests.samples import NOW, many_schedules


def changes(number: int, rows: int = 0) -> list[RecordChange]:
    """So many changes; of so many schedules in turn, or of heartbeats."""
    schedules = many_schedules(rows)
    return [
        RecordChange(
            kind=ChangeKind.INSERT,
            sequence=str(at),
            read=known(schedules[at % rows] if rows else Heartbeat(sent_at=at)),
            record={},
        )
        for at in range(number)
    ]


def a_stream(records: list[RecordChange], batch: int = 100, shards: int = 1) -> tuple[MemoryStream, list[RecordChange]]:
    """A stream, and what it gives up on."""
    given_up: list[RecordChange] = []
    return MemoryStream(ManualClock(NOW), records, given_up.extend, shards=shards, batch=batch), given_up


def sequences(batch: Sequence[RecordChange]) -> list[str]:
    return [change.sequence for change in batch]


def test_a_batch_comes_until_it_is_settled() -> None:
    stream, _ = a_stream(changes(5), batch=3)
    assert sequences(stream.receive(0)) == ["0", "1", "2"]
    assert sequences(stream.receive(0)) == ["0", "1", "2"]
    stream.settle(0, [])
    assert sequences(stream.receive(0)) == ["3", "4"]
    stream.settle(0, [])
    assert stream.receive(0) == stream.unread() == []
    assert stream.busy() == []


def test_it_begins_again_at_the_lowest_failure() -> None:
    """What came after it is delivered again, though it had succeeded."""
    stream, _ = a_stream(changes(6))
    stream.receive(0)
    stream.settle(0, ["4", "2"])
    assert sequences(stream.receive(0)) == ["2", "3", "4", "5"]


def test_a_batch_whose_function_died_is_cut_in_two() -> None:
    stream, _ = a_stream(changes(5))
    stream.receive(0)
    stream.settle(0, None)
    assert sequences(stream.receive(0)) == ["0", "1", "2"]
    assert sequences(stream.unread()) == ["0", "1", "2", "3", "4"]
    for expected in (["0", "1"], ["0"]):
        stream.settle(0, None)
        assert sequences(stream.receive(0)) == expected
    stream.settle(0, None)
    assert sequences(stream.receive(0)) == ["0"], "one record cannot be cut: it comes again"


def test_what_is_too_old_is_given_up_on() -> None:
    """And what comes after it is read."""
    records = changes(2)
    stream, given_up = a_stream(records)
    assert sequences(stream.receive(0)) == ["0", "1"]
    stream.clock.move(23 * HOUR)  # type: ignore[attr-defined] # a ManualClock
    assert sequences(stream.receive(0)) == ["0", "1"]
    assert given_up == []
    stream.clock.move(1)  # type: ignore[attr-defined] # a ManualClock
    records.append(changes(3)[2])
    assert sequences(stream.receive(0)) == ["2"]
    assert sequences(given_up) == ["0", "1"]


@given(
    number=st.integers(1, 60),
    shards=st.integers(1, 4),
    batch=st.integers(1, 7),
    answers=st.lists(st.one_of(st.none(), st.lists(st.integers(0, 59).map(str), max_size=4)), max_size=40),
)
def test_the_changes_of_one_record_keep_their_order(
    number: int, shards: int, batch: int, answers: list[list[str] | None]
) -> None:
    """Whatever fails: nothing is passed over, and nothing overtakes another change of its record."""
    records = changes(number, rows=5)
    stream, _ = a_stream(records, batch, shards)
    done: list[RecordChange] = []
    while busy := stream.busy():
        for shard in busy:
            received = list(stream.receive(shard))
            assert 0 < len(received) <= batch
            failed = answers.pop() if answers else []
            stream.settle(shard, failed)
            if failed is not None:
                lowest = [position for position, change in enumerate(received) if change.sequence in failed]
                done += received[: min(lowest, default=len(received))]
    assert sorted(sequences(done), key=int) == sequences(records)
    for row in {change.row.id for change in records}:  # type: ignore[union-attr] # schedules all
        own = [int(change.sequence) for change in done if change.row.id == row]  # type: ignore[union-attr] # the same
        assert own == sorted(own)
