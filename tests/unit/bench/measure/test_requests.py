"""A reading of the meter becomes requests per schedule; fixed costs are separate."""

import pytest

from bench.measure.requests import by_function, per_call, per_occurrence, per_schedule, rows_without_minute_task
from local.emulator.metering.meter import Reading

MAPPING = "(event source mapping)"
READING: Reading = {
    "requests": {
        "unknown": {"dynamodb.Scan": {"requests": 5, "readUnits": 50}},
        "api-schedule-post": {
            "dynamodb.PutItem": {"requests": 100, "writeUnits": 100},
            "dynamodb.UpdateItem": {"requests": 1, "writeUnits": 1},
        },
        "task-1minute-enqueuer": {
            "dynamodb.PutItem": {"requests": 2, "writeUnits": 2},
            "dynamodb.DeleteItem": {"requests": 2, "writeUnits": 2},
            "dynamodb.Query": {"requests": 48, "readUnits": 50},
            "dynamodb.BatchWriteItem": {"requests": 4, "writeUnits": 90},
            "sqs.GetQueueAttributes": {"requests": 2, "billed": 2},
        },
        "stream-enqueuer": {
            "dynamodb.BatchWriteItem": {"requests": 1, "writeUnits": 10},
            "dynamodb.UpdateItem": {"requests": 2, "writeUnits": 2},
            "sqs.SendMessageBatch": {"requests": 10, "billed": 12},
        },
        "delayer-relay": {
            "dynamodb.PutItem": {"requests": 100, "writeUnits": 100},
            "sqs.SendMessageBatch": {"requests": 10, "billed": 10},
            f"sqs.ReceiveMessage {MAPPING}": {"requests": 10, "billed": 10},
            f"sqs.DeleteMessageBatch {MAPPING}": {"requests": 10, "billed": 10},
        },
        "executor-http-request": {
            "dynamodb.GetItem": {"requests": 100, "readUnits": 100},
            "dynamodb.PutItem": {"requests": 100, "writeUnits": 100},
            "s3.PUT": {"requests": 3},
        },
    },
    "invocations": {
        "task-1minute-enqueuer": {"invocations": 2, "errors": 0, "seconds": 1.5},
        "delayer-relay": {"invocations": 10, "errors": 0, "seconds": 5},
    },
}


def test_the_four_writes_of_a_schedule_do_not_include_the_fixed_ones() -> None:
    sums = per_schedule(READING, 100)
    assert sums.writes == pytest.approx(4)
    assert (sums.fixed_writes, sums.ticks) == (7, 2)


def test_reads_of_the_minute_task_are_fixed() -> None:
    sums = per_schedule(READING, 100)
    assert sums.reads == pytest.approx(1)
    assert sums.fixed_reads == 50


def test_sqs_requests_are_those_of_functions_and_mappings_without_the_ticks() -> None:
    assert per_schedule(READING, 100).sqs == pytest.approx(0.42)


def test_the_share_of_the_fast_track_is_what_the_enqueuer_deleted() -> None:
    assert per_schedule(READING, 100).fast_track == pytest.approx(0.1)


def test_each_function_has_a_row_and_the_benchmark_itself_none() -> None:
    rows = {row.function: row for row in by_function(READING)}
    assert "unknown" not in rows
    relay, executor = rows["delayer-relay"], rows["executor-http-request"]
    assert (relay.sqs, relay.mapping, relay.invocations, relay.seconds) == (10, 20, 10, 5)
    assert (executor.dynamodb, executor.read_units, executor.s3) == (200, 100, 3)


JOURNAL: Reading = {
    "requests": {
        "lifecycle-journal": {
            "dynamodb.BatchWriteItem": {"requests": 20, "writeUnits": 400},
            "dynamodb.UpdateItem": {"requests": 3, "writeUnits": 3},
            "dynamodb.Query": {"requests": 3, "readUnits": 3},
            f"sqs.ReceiveMessage {MAPPING}": {"requests": 10, "billed": 10},
        },
        "stream-lifecycle": {"sns.PublishBatch": {"requests": 20}},
    },
    "invocations": {"lifecycle-journal": {"invocations": 10}, "stream-lifecycle": {"invocations": 20}},
}


def test_what_looks_after_series_is_no_part_of_a_schedule() -> None:
    task: dict[str, dict[str, dict[str, float]]] = {
        "task-1minute-series": {"dynamodb.Query": {"requests": 160, "readUnits": 80}}
    }
    reading = Reading(requests={**READING["requests"], **task}, invocations=READING["invocations"])
    assert per_schedule(reading, 100) == per_schedule(READING, 100)


def test_the_step_is_a_part_of_an_occurrence() -> None:
    step: dict[str, dict[str, dict[str, float]]] = {
        "series-stepper": {"dynamodb.TransactWriteItems": {"requests": 100, "writeUnits": 800}}
    }
    reading = Reading(requests={**READING["requests"], **step}, invocations=READING["invocations"])
    assert per_schedule(reading, 100) == per_schedule(READING, 100)
    assert per_occurrence(reading, 100).writes == pytest.approx(per_schedule(READING, 100).writes + 8)


def test_the_journal_is_no_part_of_a_schedule_but_has_its_row() -> None:
    both = Reading(
        requests={**READING["requests"], **JOURNAL["requests"]},
        invocations={**READING["invocations"], **JOURNAL["invocations"]},
    )
    assert per_schedule(both, 100) == per_schedule(READING, 100)
    assert "lifecycle-journal" in {row.function for row in by_function(both)}


CALLS: Reading = {
    "requests": {
        "unknown": {"dynamodb.Scan": {"requests": 5, "readUnits": 50}},
        "api-schedule-put": {
            "dynamodb.GetItem": {"requests": 20, "readUnits": 20},
            "dynamodb.TransactWriteItems": {"requests": 10, "writeUnits": 100},
            "dynamodb.UpdateItem": {"requests": 10, "writeUnits": 10},
        },
        "stream-enqueuer": {
            "dynamodb.GetItem": {"requests": 10, "readUnits": 10},
            "dynamodb.UpdateItem": {"requests": 1, "writeUnits": 1},
        },
        "task-1minute-enqueuer": READING["requests"]["task-1minute-enqueuer"],
        "lifecycle-journal": JOURNAL["requests"]["lifecycle-journal"],
    },
    "invocations": {
        "api-schedule-put": {"invocations": 10},
        "stream-enqueuer": {"invocations": 4},
        "task-1minute-enqueuer": {"invocations": 1},
    },
}


def test_a_call_includes_the_work_after_its_response_but_not_the_ticks() -> None:
    units = per_call(CALLS, 10)
    assert units.writes == pytest.approx((100 + 10 + 400 + 3) / 10)
    assert units.reads == pytest.approx((20 + 10 + 3) / 10)
    assert units.invocations == {"api-schedule-put": 1, "stream-enqueuer": 0.4}


def test_sqs_requests_of_a_call_are_given_by_function() -> None:
    assert per_call(CALLS, 10).sqs == {"lifecycle-journal": 1}


def test_without_calls_there_is_no_division_by_zero() -> None:
    assert per_call({"requests": {}, "invocations": {}}, 0).writes == 0


def test_the_minute_task_does_not_count_for_a_quiet_stack() -> None:
    assert {row.function for row in rows_without_minute_task(CALLS)} == {
        "api-schedule-put",
        "stream-enqueuer",
        "lifecycle-journal",
    }
