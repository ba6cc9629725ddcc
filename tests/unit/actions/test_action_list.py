"""GET /actions."""

import json
from typing import Any

import pytest
from attrs import evolve
from jsonschema import Draft202012Validator

from delayer.actions.registered import RegisteredActions
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration
from delayer.schedule.instants import MINUTE
from tests.fakes.faults import Fault, FaultPlan, faulty
from tests.openapi import openapi
from tests.unit.handlers import handler_of, world_of_handlers

SCHEMA = '{"type":"object","properties":{"n":{"maximum":1.50}}}'
REPORTS = Registration(
    action=ActionType(type="a-report", schema=SCHEMA, payload='{"type":"array"}', largest_payload=1_000),
    stack="arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/1a2b",
    token="1",
    function="arn:aws:lambda:eu-west-1:123456789012:function:secret",
)


class Listing:
    """The function, on a world whose registrations a test can change."""

    def __init__(self) -> None:
        self.world = world_of_handlers()
        self.handler = handler_of(self.world, "api-action-list")

    def __call__(self) -> tuple[int, dict[str, Any]]:
        made = self.handler({}, None)
        return made["statusCode"], json.loads(made["body"])

    def register(self, *registrations: Registration) -> None:
        """As the stacks of this type do."""
        assert self.world.action_rows.write(REPORTS.action.type, registrations, ())


@pytest.fixture
def listing() -> Listing:
    return Listing()


def test_it_lists_what_delayer_itself_brings_and_nothing_internal(listing: Listing) -> None:
    status, body = listing()
    assert status == 200
    assert {one["stack"] for one in body["actions"]} == {"delayer"}
    types = [one["type"] for one in body["actions"]]
    assert types == sorted(types)
    assert {"http-request", "sqs-send"} <= set(types)
    assert not {"canary", "remote"} & set(types)


def test_a_type_of_another_stack_is_listed_within_a_minute(listing: Listing) -> None:
    """With its schemas as they were registered, and nothing of its function."""
    listing()
    listing.register(evolve(REPORTS, token="0", stack="s/others/1"), REPORTS)
    listing.world.clock.sleep_until(listing.world.clock.now() + MINUTE)
    [first, *_] = listing()[1]["actions"]
    assert first == {
        "type": "a-report",
        "stack": "reports",
        "schema": json.loads(SCHEMA),
        "payload": {"type": "array"},
        "largestPayload": 1_000,
    }


def test_the_answer_is_as_documented(listing: Listing) -> None:
    listing.register(REPORTS)
    schemas = openapi()["components"]["schemas"]
    documented = {**schemas["ActionTypes"], "properties": {"actions": {"items": schemas["ActionType"]}}}
    status, body = listing()
    assert [*Draft202012Validator(documented).iter_errors(body)] == []
    assert str(status) in openapi()["paths"]["/actions"]["get"]["responses"]


def test_what_was_never_read_is_unavailable(listing: Listing) -> None:
    """Not an empty list."""
    rows = faulty(listing.world.action_rows, FaultPlan(Fault.BEFORE, at=0))
    listing.world.actions = RegisteredActions(clock=listing.world.clock, action_rows=rows)
    assert handler_of(listing.world, "api-action-list")({}, None)["statusCode"] == 503
