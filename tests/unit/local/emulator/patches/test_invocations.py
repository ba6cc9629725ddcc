"""A record that a stream's function reports as failed is delivered again."""

from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.patches.invocations import pass_source_address, with_partial_failure


def stream_event(*numbers: str) -> dict[str, Any]:
    return {"Records": [{"eventSource": "aws:dynamodb", "dynamodb": {"SequenceNumber": n}} for n in numbers]}


def failures(*numbers: str) -> dict[str, Any]:
    return {"body": {"batchItemFailures": [{"itemIdentifier": n} for n in numbers]}}


def test_a_partial_failure_restarts_at_the_lowest_failed_record() -> None:
    result = with_partial_failure(stream_event("1", "2", "3"), failures("3", "2"))
    assert (result["error"], result["restart_at"]) == (True, "2")


@pytest.mark.parametrize("named", ["", "unknown"])
def test_an_unknown_name_restarts_the_whole_batch(named: str) -> None:
    assert with_partial_failure(stream_event("1", "2"), failures("2", named))["restart_at"] == "1"


def test_a_response_written_as_text_is_understood() -> None:
    result = {"body": '{"batchItemFailures": [{"itemIdentifier": "2"}]}'}
    assert with_partial_failure(stream_event("1", "2"), result)["error"]


@pytest.mark.parametrize("result", [{"body": None}, {"body": {}}, {"body": {"batchItemFailures": []}}, {"error": True}])
def test_every_other_result_stays_as_it_is(result: dict[str, Any]) -> None:
    assert with_partial_failure(stream_event("1"), result) == result


@pytest.mark.parametrize("event", [{"Records": []}, {"Records": [{"eventSource": "aws:sqs"}]}, None, {"path": "/"}])
def test_every_other_event_is_left_alone(event: Any) -> None:
    assert with_partial_failure(event, failures("1")) == failures("1")


def test_the_api_learns_from_where_a_request_comes() -> None:
    """Not from a header: anybody can write one."""
    invoked: list[Any] = []
    service = SimpleNamespace(_execute_function_with_config_scope=lambda func, event: invoked.append(event))
    pass_source_address(service, SimpleNamespace(get_request_client_ip=lambda: "192.0.2.7"))
    http = {"method": "GET", "sourceIp": "127.0.0.1"}
    event: dict[str, Any] = {"headers": {"x-forwarded-for": "127.0.0.1"}, "requestContext": {"http": http}}
    events: list[Any] = [event, {"Records": []}, None]
    for one in events:
        service._execute_function_with_config_scope({}, one)
    assert invoked[0]["requestContext"]["http"] == {"method": "GET", "sourceIp": "192.0.2.7"}
    assert invoked[1:] == [{"Records": []}, None]
