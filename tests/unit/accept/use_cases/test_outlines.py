"""What a list says of a schedule wherever it is: the target of its action, its group, its tags (ADR 0127)."""

import json
from typing import Any

import pytest
from attrs import define, evolve, field
from jsonschema import Draft202012Validator

from delayer.accept.rules.status import outline_of
from delayer.actions.rules.model import ActionType
from delayer.engines.ports import Unavailable
from delayer.history.model import Original
from delayer.schedule.instants import HOUR, MINUTE, SECOND, format_instant
from delayer.schedule.schedule import Traits
from tests.openapi import openapi
from tests.samples import a_schedule
from tests.unit.handlers import Handler, handler_of, world_of_handlers
from tests.world import START, World

OWNER = "owner"
URL = "https://API.example.com:8443/hook?token=secret"
HTTP: dict[str, Any] = {"type": "http-request", "url": URL}
QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-orders"
FUNCTION = "arn:aws:lambda:eu-west-1:123456789012:function:delayer-report"
PAGE = {
    **(components := openapi()["components"])["schemas"]["SchedulePage"],
    "components": components,
}


@define
class Lists:
    """The functions that store and list."""

    world: World = field(factory=world_of_handlers)
    handlers: dict[str, Handler] = field(factory=dict)

    def call(self, function: str, event: dict[str, Any]) -> dict[str, Any]:
        if function not in self.handlers:
            self.handlers[function] = handler_of(self.world, function)
        made = self.handlers[function]({"headers": {"delayer-owner": OWNER}, **event}, None)
        assert made["statusCode"] in (200, 201), made["body"]
        found: dict[str, Any] = json.loads(made["body"])
        return found

    def post(self, **body: Any) -> str:
        posted = self.call("api-schedule-post", {"body": json.dumps({"delaySeconds": 1, "action": HTTP, **body})})
        return str(posted["scheduleId"])

    def listed(self, **query: str) -> list[dict[str, Any]]:
        found = self.call("api-schedule-list", {"queryStringParameters": query})
        assert [one.message for one in Draft202012Validator(PAGE).iter_errors(found)] == []
        schedules: list[dict[str, Any]] = found["schedules"]
        return schedules

    def fire(self) -> None:
        self.world.run_until(self.world.clock.now() + MINUTE)
        self.world.update_journal()


@pytest.fixture
def lists() -> Lists:
    return Lists()


def test_it_is_the_same_before_and_after_a_schedule_has_left_the_table(lists: Lists) -> None:
    posted = lists.post(delaySeconds=7200, group="g", name="n", tags={"team": "a"}, payload={"large": "x"})
    lists.world.update_journal()
    [waiting], [of_all] = lists.listed(group="g"), lists.listed()
    assert waiting == of_all
    lists.world.run_until(START + 3 * HOUR)
    lists.world.update_journal()
    for [fired] in (lists.listed(group="g"), lists.listed()):
        assert (fired["scheduleId"], fired["state"]) == (posted, "executed")
        same = ("target", "group", "name", "tags", "createdAt")
        assert {name: fired[name] for name in same} == {name: waiting[name] for name in same}
        assert fired.keys().isdisjoint({"action", "payload", "masked"}), "a list is no place for all of it"
    assert waiting["target"] == {"type": "http-request", "name": "api.example.com:8443"}
    assert (waiting["group"], waiting["name"], waiting["tags"]) == ("g", "n", {"team": "a"})
    assert "secret" not in json.dumps(fired)


@pytest.mark.parametrize(
    ("action", "target"),
    [
        ({"type": "sqs-send", "queueUrl": QUEUE}, {"type": "sqs-send", "name": QUEUE}),
        ({"type": "lambda-invoke", "functionArn": FUNCTION}, {"type": "lambda-invoke", "name": FUNCTION}),
        ({"type": "http-request", "url": "http://127.0.0.1:80/"}, {"type": "http-request", "name": "127.0.0.1"}),
    ],
    ids=lambda one: one["type"],
)
def test_a_target_is_named_as_operators_name_it(lists: Lists, action: dict[str, Any], target: dict[str, str]) -> None:
    lists.post(action=action, group="g", delaySeconds=3600)
    assert lists.listed(group="g")[0]["target"] == target


def test_of_an_occurrence_its_series_is_said(lists: Lists) -> None:
    body = {"repeat": {"every": "PT1M", "anchor": format_instant(START)}, "action": HTTP, "tags": {"team": "b"}}
    made = lists.call("api-series-post", {"body": json.dumps(body)})
    lists.world.run_until(START + MINUTE + 30 * SECOND)
    lists.world.update_journal()
    one = next(each for each in lists.listed() if each["scheduleId"] == made["occurrence"]["scheduleId"])
    assert (one["series"]["seriesId"], one["series"]["number"], one["state"]) == (made["seriesId"], 1, "executed")
    assert (one["tags"], one["target"]["name"]) == ({"team": "b"}, "api.example.com:8443")
    event = {"routeKey": "GET /series/{seriesId}/occurrences", "pathParameters": {"seriesId": made["seriesId"]}}
    [listed] = [
        each
        for each in lists.call("api-series-get", event)["occurrences"]
        if each["scheduleId"] == made["occurrence"]["scheduleId"]
    ]
    assert (listed["tags"], listed["target"], "action" in listed) == (one["tags"], one["target"], False)


def test_what_the_journal_does_not_know_is_left_out(lists: Lists) -> None:
    """Also if it does not answer: then a list says less, and is a list all the same."""
    posted = lists.post(group="g", tags={"team": "a"})
    lists.world.run_until(START + MINUTE)
    [unknown] = lists.listed(group="g")
    assert (unknown["scheduleId"], unknown["state"]) == (posted, "executed")
    assert unknown.keys().isdisjoint({"target", "tags", "group", "createdAt"})
    lists.world.update_journal()
    assert "target" in lists.listed(group="g")[0]


def test_a_journal_that_is_down_makes_a_list_of_a_group_say_less(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> None:
    lists.post(group="g")
    lists.fire()

    def down(*_: Any) -> Any:
        raise Unavailable("down")

    monkeypatch.setattr(type(lists.world.journal), "beginnings", down)
    [one] = lists.listed(group="g")
    assert (one["state"], "target" in one) == ("executed", False)


def test_the_journal_is_asked_once_for_a_page_and_not_for_what_is_in_the_table(
    lists: Lists, monkeypatch: pytest.MonkeyPatch
) -> None:
    fired = {lists.post(group="g") for _ in range(30)}
    lists.fire()
    waiting = lists.post(group="g", delaySeconds=3600)
    asked: list[list[str]] = []
    known = type(lists.world.journal).beginnings

    def asking(journal: Any, owner: str, ids: list[str]) -> Any:
        asked.append(ids)
        return known(journal, owner, ids)

    monkeypatch.setattr(type(lists.world.journal), "beginnings", asking)
    listed = lists.listed(group="g", limit="100")
    assert {one["scheduleId"] for one in listed} == {*fired, waiting}
    assert all("target" in one for one in listed)
    assert [set(ids) for ids in asked] == [fired]


@pytest.mark.parametrize("fair_by", ["host:url", "url"], ids=["host", "whole"])
def test_a_target_that_is_a_secret_is_not_named(fair_by: str) -> None:
    """As the URL of a webhook may be: its host says nothing without it, and is left out with it."""
    action = ActionType(type="hook", schema="{}", fair_by=fair_by)
    schedule = a_schedule(action=json.dumps({"type": "hook", "url": URL}))
    open_one = Original(schedule=schedule)
    assert "secret" not in outline_of(open_one, {"hook": evolve(action, fair_by="host:url")}).target
    secret = Original(schedule=evolve(schedule, traits=Traits(secrets={"properties": {"url": {"writeOnly": True}}})))
    assert outline_of(secret, {"hook": action}).target == ""
    assert outline_of(secret, {}) == outline_of(secret, {"hook": action}), "of an unknown type, its name is known"
