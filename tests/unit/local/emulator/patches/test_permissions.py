"""What the emulator takes for a safe transport: the stack refuses requests without TLS."""

import importlib
from types import SimpleNamespace

import pytest

from local.emulator.patches.permissions import name_event_buses, parse_policies_once, trust_loopback


@pytest.mark.parametrize(
    ("source", "is_tls", "counts"),
    [
        ("127.0.0.1", False, True),
        ("127.0.0.1", True, True),
        ("192.0.2.1", True, True),
        ("192.0.2.1", False, False),
    ],
)
def test_a_call_from_this_machine_counts_as_one_over_tls(source: str, is_tls: bool, counts: bool) -> None:
    pinned: list[tuple[str, bool]] = []
    evaluator = SimpleNamespace(pin_request_origin=lambda *origin: pinned.append(origin))
    trust_loopback(evaluator)
    evaluator.pin_request_origin(source, is_tls)
    assert pinned == [(source, counts)]


def test_ministack_has_the_name_that_is_replaced() -> None:
    assert callable(importlib.import_module("ministack.core.iam_evaluator").pin_request_origin)


@pytest.mark.parametrize("name", ["orders", "arn:aws:events:us-east-1:000000000000:event-bus/orders"])
def test_an_event_bus_is_authorized_as_one(name: str) -> None:
    actions = SimpleNamespace(
        extract_resource_arn=importlib.import_module("ministack.core.iam_actions").extract_resource_arn
    )
    name_event_buses(actions)
    asked = ({"X-Amz-Target": "AWSEvents.DescribeEventBus"}, f'{{"Name": "{name}"}}'.encode())
    found = actions.extract_resource_arn("events", "POST", "/", *asked, {}, "us-east-1", "000000000000")
    assert found == "arn:aws:events:us-east-1:000000000000:event-bus/orders"


def test_all_else_is_left_to_ministack() -> None:
    actions = SimpleNamespace(extract_resource_arn=lambda *_: "as it was")
    name_event_buses(actions)
    rule = ({"X-Amz-Target": "AWSEvents.DescribeRule"}, b"{}")
    assert actions.extract_resource_arn("events", "POST", "/", *rule, {}, "us-east-1", "0") == "as it was"


def test_the_text_of_a_policy_is_read_once_and_a_document_each_time() -> None:
    """A document may be made for one request, or be changed."""
    read: list[object] = []
    evaluator = SimpleNamespace(parse_policy_document=read.append)
    parse_policies_once(evaluator)
    documents: list[object] = ['{"Statement": []}', '{"Statement": [{}]}', '{"Statement": []}', {"Statement": []}]
    for document in documents:
        evaluator.parse_policy_document(document)
        evaluator.parse_policy_document(document)
    assert read == ['{"Statement": []}', '{"Statement": [{}]}', {"Statement": []}, {"Statement": []}]
