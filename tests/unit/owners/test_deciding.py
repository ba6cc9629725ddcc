"""What is decided about a schedule by the policy of its owner."""

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.model import ActionType
from delayer.owners.admission import WrongPolicy, admit
from delayer.owners.model import (
    LISTS,
    NO_POLICY,
    NUMBERS,
    RULES,
    AccessRequest,
    Allowed,
    Forbidden,
    OwnerPolicy,
    asked_by,
    asked_by_url,
    decide,
    from_text,
    to_text,
)
from delayer.schedule.instants import HOUR
from delayer.schedule.schedule import Definition

TYPES = built_in()
HTTP = {"type": "http-request", "url": "https://api.example.com/"}
SQS = {"type": "sqs-send", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"}
TARGETS: dict[str, tuple[dict[str, str], str]] = {  # an action, and a pattern that allows it
    "hosts": (HTTP, "api.example.com"),
    "queues": (SQS, "orders"),
    "topics": ({"type": "sns-publish", "topicArn": "arn:aws:sns:eu-west-1:123456789012:t"}, "t"),
    "functions": ({"type": "lambda-invoke", "functionArn": "arn:aws:lambda:eu-west-1:123456789012:function:f"}, "f"),
    "stateMachines": (
        {"type": "step-start", "stateMachineArn": "arn:aws:states:eu-west-1:123456789012:stateMachine:m"},
        "m",
    ),
    "eventBuses": ({"type": "event-put", "eventBusArn": "arn:aws:events:eu-west-1:123456789012:event-bus/b"}, "b"),
}


def decided(rules: dict[str, Any], action: dict[str, Any], ahead: int = 0, payload: str = "", **more: Any) -> Any:
    definition = Definition(action=json.dumps(action), payload=payload)
    known = more.get("known", TYPES.get(action["type"]))
    return decide(OwnerPolicy(rules=rules), asked_by(definition, known, ahead))


def test_without_rules_everything_is_allowed() -> None:
    assert decided({}, HTTP, 10**12, "x" * 262_144) == Allowed()


def test_each_action_of_aws_and_http_says_what_it_reaches() -> None:
    assert {kind for kind, one in TYPES.items() if one.reaches} == {one["type"] for one, _ in TARGETS.values()}


@pytest.mark.parametrize("rule", TARGETS)
def test_each_rule_of_targets(rule: str) -> None:
    action, pattern = TARGETS[rule]
    assert decided({rule: (pattern,)}, action) == Allowed()
    for allowed in (("other",), ()):
        found = decided({rule: allowed}, action)
        assert isinstance(found, Forbidden)
        assert (found.rule, found.field.partition(".")[0]) == (rule, "action")
    others = {one: () for one in TARGETS if one != rule}
    assert decided(others, action) == Allowed(), "the other rules say nothing of it"


def test_the_type_is_looked_at_first() -> None:
    found = decided({"actions": ("sqs-send",), "hosts": ()}, HTTP)
    assert (found.rule, found.text, found.field, found.allowed) == (
        "actions",
        "http-request",
        "action.type",
        "sqs-send",
    )
    assert found.reason == "the owner policy forbids it, by its rule actions: http-request"


def test_numbers() -> None:
    assert decided({"payloadBytes": 3}, HTTP, payload='"\u00e9"').rule == "payloadBytes"
    assert decided({"payloadBytes": 4}, HTTP, payload='"\u00e9"') == Allowed()
    assert decided({"aheadSeconds": 3600}, HTTP, ahead=HOUR) == Allowed()
    assert decided({"aheadSeconds": 3600}, HTTP, ahead=HOUR + 1).rule == "aheadSeconds"


def test_an_action_of_a_team_is_covered() -> None:
    """By its type in any case; by its host if it is fair by one, or says so."""
    team = ActionType(type="slack-post", schema="{}")
    action = {"type": "slack-post", "webhook": "https://hooks.example/x"}
    assert decided({"actions": ("http-request",)}, action, known=team).rule == "actions"
    assert decided({"hosts": ()}, action, known=team) == Allowed(), "it does not say what it reaches"
    for said in (evolve(team, fair_by="host:webhook"), evolve(team, reaches="host:webhook")):
        assert decided({"hosts": ("hooks.example",)}, action, known=said) == Allowed()
        assert decided({"hosts": ("other.example",)}, action, known=said).field == "action.webhook"
        assert decided({"hosts": ("hooks.example",)}, {"type": "slack-post"}, known=said).rule == "hosts"
        assert decided({"hosts": ("hooks.example",)}, {**action, "webhook": 5}, known=said).rule == "hosts"


def test_a_type_that_is_not_known_is_covered_by_its_name() -> None:
    assert decided({"actions": ("http-request",)}, {"type": "new-one"}, known=None).rule == "actions"


def test_a_pattern_that_no_command_has_written_allows_nothing() -> None:
    assert decided({"hosts": ("*",)}, HTTP).rule == "hosts"


values = st.one_of(
    st.none(), st.integers(0, 100), st.lists(st.sampled_from(["api.example.com", "x"]), max_size=2).map(tuple)
)
policies = st.dictionaries(st.sampled_from(RULES), values).map(
    lambda rules: OwnerPolicy(
        rules={k: v for k, v in rules.items() if v is None or isinstance(v, tuple) == (k in LISTS)}
    )
)


@given(policies, policies)
def test_what_an_owner_s_own_does_not_say_the_default_says(own: OwnerPolicy, default: OwnerPolicy) -> None:
    both = own.over(default)
    for rule in RULES:
        wanted = own.rules[rule] if rule in own.rules else default.rules.get(rule)
        assert both.rules.get(rule) == wanted
    assert NO_POLICY.over(both) == both


@given(policies)
def test_a_policy_survives_being_stored(policy: OwnerPolicy) -> None:
    assert from_text(to_text(policy)) == policy


@given(policies, st.sampled_from(sorted(TARGETS)), st.integers(0, 200), st.integers(0, 200_000))
def test_less_is_never_forbidden_by_what_allows_more(policy: OwnerPolicy, rule: str, size: int, ahead: int) -> None:
    """Taking a rule away forbids nothing; a smaller payload and an earlier time are allowed where larger ones are."""
    action, _ = TARGETS[rule]
    asked = evolve(asked_by(Definition(action=json.dumps(action)), TYPES[action["type"]], ahead), payload_bytes=size)
    if decide(policy, asked) != Allowed():
        return
    for name in policy.rules:
        assert decide(OwnerPolicy(rules={k: v for k, v in policy.rules.items() if k != name}), asked) == Allowed()
    assert decide(policy, evolve(asked, payload_bytes=size // 2, ahead=ahead // 2)) == Allowed()


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "a policy is a JSON object"),
        ({"limits": {}}, "reserved"),
        ({"hots": []}, "no such rule; there are actions, hosts"),
        ({"hosts": "api.example.com"}, "a list of up to 200 texts"),
        ({"hosts": ["*"]}, "alone it matches too much"),
        ({"hosts": ["ok.example.com", "*.com"]}, r"hosts\[1\]"),
        ({"hosts": ["x.example"] * 201}, "a list of up to 200"),
        ({"actions": ["http"]}, "no such type; registered are"),
        ({"queues": ["*"]}, "matches too much"),
        ({"createsPerMinute": 0}, "from 1 to 50,000"),
        ({"createsPerMinute": True}, "a whole number"),
        ({"aheadSeconds": -1}, "from 0 to 315,"),
        ({"payloadBytes": 1.5}, "a whole number"),
        ({"hosts": [f"{'a' * 60}.{'b' * 60}.example{number}.com" for number in range(200)]}, "over 16,384 bytes"),
        ({str(number): 1 for number in range(9)}, "and 4 more"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_document_is_said(document: Any, said: str) -> None:
    with pytest.raises(WrongPolicy, match=said):
        admit(document, TYPES)


def test_a_document_with_everything() -> None:
    document: dict[str, Any] = {rule: [pattern] for rule, (_, pattern) in TARGETS.items()} | {"actions": sorted(TYPES)}
    document |= dict.fromkeys(NUMBERS, 5) | {"queues": None, "topics": []}
    policy = admit(document, TYPES)
    assert set(policy.rules) == set(RULES)
    assert policy.rules["queues"] is None


def test_nothing_asked_for_is_nothing_forbidden() -> None:
    assert decide(OwnerPolicy(rules=dict.fromkeys(RULES, None)), AccessRequest(kind="x")) == Allowed()


@pytest.mark.parametrize("url", ["https://api.example.org/", "https://api.example.com:444/", "https://user@x/", "x y"])
def test_a_url_that_stands_in_no_action_is_refused_by_its_own_field(url: str) -> None:
    policy = OwnerPolicy(rules={"hosts": ("api.example.com",)})
    assert decide(policy, asked_by_url("https://api.example.com/x", "tokenUrl")) == Allowed()
    found = decide(policy, asked_by_url(url, "tokenUrl"))
    assert isinstance(found, Forbidden)
    assert (found.rule, found.field) == ("hosts", "tokenUrl")


def test_a_url_is_reached_as_the_target_of_an_http_request_is() -> None:
    for allowed, expected in ((("http-request",), Allowed), (("sqs-send",), Forbidden)):
        found = decide(OwnerPolicy(rules={"actions": allowed}), asked_by_url("https://x/", "url"))
        assert isinstance(found, expected)
        assert isinstance(found, Allowed) or (found.rule, found.field) == ("actions", "url")
