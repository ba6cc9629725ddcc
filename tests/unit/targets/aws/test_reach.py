"""What the actions that call AWS may reach, for whom, and what is said when it fails. The same for all of them."""

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from botocore.exceptions import EndpointConnectionError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delayer.actions.rules.model import Done, Refused, Retry
from tests.cfn import functions, resources
from tests.samples import OWNER
from tests.unit.targets.apps import reach
from tests.unit.targets.aws.samples import (
    ACCOUNT,
    ACTIONS,
    OPERATIONS,
    OTHER,
    REGION,
    Scripted,
    a_message,
    action_of,
    an_error,
    run,
)

NOUNS = {
    "sqs-send": "a queue",
    "sns-publish": "a topic",
    "event-put": "an event bus",
    "lambda-invoke": "a function",
    "step-start": "a state machine",
}
ROLE = f"arn:aws:iam::{OTHER}:role/delayer-target"
each_kind = pytest.mark.parametrize("kind", ACTIONS)


@each_kind
def test_what_is_allowed_is_reached(kind: str) -> None:
    client = Scripted()
    assert isinstance(run(action_of(kind), client), Done)
    assert OPERATIONS[kind] in [operation for operation, _ in client.calls]


@each_kind
def test_other_accounts_and_regions_are_refused(kind: str) -> None:
    client = Scripted()
    there = run(action_of(kind, account=OTHER), client)
    far = run(action_of(kind, region="us-east-1"), client)
    assert (there, far) == (
        Refused(f"{NOUNS[kind]} of another account", reached=False),
        Refused(f"{NOUNS[kind]} of a region that the stack does not allow: us-east-1", reached=False),
    )
    assert client.calls == []


@each_kind
def test_without_a_list_of_regions_it_is_the_stacks_own_alone(kind: str) -> None:
    none = {"TARGET_REGIONS": "", "SQS_TARGET_REGIONS": ""}
    assert isinstance(run(action_of(kind), Scripted(), **none), Done)
    assert isinstance(run(action_of(kind, region="us-east-2"), Scripted(), **none), Refused)
    assert isinstance(run(action_of(kind, region="us-east-2"), Scripted()), Done)


@given(
    kind=st.sampled_from(sorted(ACTIONS)),
    account=st.sampled_from([ACCOUNT, OTHER, "000000000000"]),
    region=st.sampled_from([REGION, "us-east-2", "us-east-1", "eu-west-10"]),
    role=st.sampled_from(["", ROLE, f"arn:aws:iam::{ACCOUNT}:role/x", f"{ROLE}-more"]),
    allowed=st.sampled_from(["", ROLE, f"{ROLE},arn:aws:iam::{ACCOUNT}:role/x"]),
    name=st.sampled_from(["delayer-target-orders", "orders"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
def test_nothing_is_called_but_in_the_account_of_the_rights_and_in_an_allowed_region(
    monkeypatch: pytest.MonkeyPatch, kind: str, account: str, region: str, role: str, allowed: str, name: str
) -> None:
    client, assumed = Scripted(), list[tuple[str, str]]()

    def assume(role_arn: str, owner: str, session: str) -> None:
        assumed.append((role_arn, owner))

    monkeypatch.setattr("delayer.targets.aws_call.ROLES", SimpleNamespace(assume=assume))
    more = {"roleArn": role} if role else {}
    result = run(action_of(kind, region, account, name, **more), client, TARGET_ROLE_ARNS=allowed)
    may = region in (REGION, "us-east-2") and account == (role.split(":")[4] if role else ACCOUNT)
    may = may and (not role or role in allowed.split(","))
    assert bool(client.calls) == may == isinstance(result, Done)
    assert assumed == ([(role, OWNER)] if role and may else [])


OWN: dict[str, list[str]] = {
    "sqs-send": [f"delayer-{queue}-Ab12Cd34Ef56" for queue in resources("AWS::SQS::Queue")],
    "sns-publish": ["delayer-LifecycleTopic-Ab12Cd34Ef56"],
    "lambda-invoke": [f"delayer-{function}" for function in functions()],
}


@pytest.mark.parametrize("kind", OWN)
def test_what_is_delayers_own_is_refused(kind: str) -> None:
    client = Scripted()
    assert OWN[kind]
    for name in OWN[kind]:
        assert run(action_of(kind, name=name), client) == Refused(f"{NOUNS[kind]} of Delayer itself", reached=False), (
            name
        )
    assert client.calls == []


def test_a_function_of_delayers_own_is_refused_by_its_alias_too() -> None:
    client = Scripted()
    assert isinstance(run(action_of("lambda-invoke", name="delayer-executor-sqs-send:live"), client), Refused)
    assert isinstance(run(action_of("lambda-invoke", name="delayer-target-executor-x:live"), client), Done)


@each_kind
def test_a_role_is_taken_for_its_owner_and_reaches_its_own_account(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is Delayer's own here is somebody's there."""
    monkeypatch.setattr("delayer.targets.aws_call.ROLES", SimpleNamespace(assume=lambda *given: given))
    asked: list[dict[str, Any]] = []

    def client_for(service: str, region: str, **more: Any) -> Scripted:
        asked.append(more)
        return Scripted()

    for name in ("delayer-target-orders", *OWN.get(kind, [])):
        message = a_message(action_of(kind, account=OTHER, name=name, roleArn=ROLE))
        assert isinstance(reach(kind, message, client_for, TARGET_ROLE_ARNS=ROLE), Done)
    assert {one["role"] for one in asked} == {(ROLE, OWNER, "delayer-delayer")}
    here = run(action_of(kind, roleArn=ROLE), Scripted(), TARGET_ROLE_ARNS=ROLE)
    assert here == Refused(f"{NOUNS[kind]} of another account than its role's", reached=False)


@each_kind
def test_a_role_that_is_refused_is_asked_again_later(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its trust policy may be corrected. Nothing is called meanwhile, and no text of AWS is shown."""

    def fails(*_: str) -> None:
        raise errors.pop()

    monkeypatch.setattr("delayer.targets.aws_call.ROLES", SimpleNamespace(assume=fails))
    errors = [an_error("AccessDenied", f"{ROLE} is secret"), EndpointConnectionError(endpoint_url="secret")]
    action, client = action_of(kind, account=OTHER, roleArn=ROLE), Scripted()
    details = [run(action, client, TARGET_ROLE_ARNS=ROLE) for _ in range(2)]
    assert details == [
        Retry(detail="the role cannot be assumed: no answer from STS", reached=False),
        Retry(detail="the role cannot be assumed: AccessDenied", reached=False),
    ]
    assert client.calls == []


@each_kind
def test_an_owner_that_sts_does_not_take_is_refused(kind: str) -> None:
    """Whatever the role trusts, it could not tell this owner from others."""
    message = a_message(action_of(kind, account=OTHER, roleArn=ROLE), owner="x" * 900 + "\u00e4" * 60)
    result = reach(kind, message, lambda *_, **__: Scripted(), TARGET_ROLE_ARNS=ROLE)
    assert isinstance(result, Refused)
    assert "external id" in result.detail


@each_kind
@pytest.mark.parametrize("code", ["AccessDenied", "Throttling", "ResourceNotFoundException", "Whatever"])
def test_what_may_be_mended_is_tried_again(kind: str, code: str) -> None:
    result = run(action_of(kind), Scripted({OPERATIONS[kind]: an_error(code)}))
    assert isinstance(result, Retry)
    assert result.detail.endswith(f": {code}")


@each_kind
def test_no_answer_is_tried_again(kind: str) -> None:
    gone = EndpointConnectionError(endpoint_url="https://secret")
    result = run(action_of(kind), Scripted({OPERATIONS[kind]: gone}))
    assert isinstance(result, Retry)
    assert re.fullmatch("no answer from [A-Za-z ]+", result.detail)


@each_kind
@given(code=st.text(max_size=200), text=st.just("User: arn:aws:sts::1:assumed-role/secret is not authorized"))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
def test_no_text_of_aws_is_shown(kind: str, code: str, text: str) -> None:
    result = run(action_of(kind), Scripted({OPERATIONS[kind]: an_error(code, text)}))
    assert not isinstance(result, Done)
    assert "arn:" not in result.detail
    assert code in result.detail or result.detail.startswith("no answer from")


@each_kind
def test_the_owner_goes_along_and_is_not_the_clients_to_set(kind: str) -> None:
    """It is in what is sent, once, whatever the payload says."""
    client = Scripted()
    message = a_message(action_of(kind), payload='{"delayer": {"owner": "forged"}, "Delayer-Owner": "forged"}')
    reach(kind, message, lambda *_, **__: client)
    [sent] = [arguments for operation, arguments in client.calls if operation == OPERATIONS[kind]]
    texts = {
        "sqs-send": lambda: sent["MessageAttributes"]["Delayer-Owner"]["StringValue"],
        "sns-publish": lambda: sent["MessageAttributes"]["Delayer-Owner"]["StringValue"],
        "event-put": lambda: next(
            one.removeprefix("Delayer-Owner:")
            for one in sent["Entries"][0]["Resources"]
            if one.startswith("Delayer-Owner:")
        ),
        "lambda-invoke": lambda: json.loads(sent["Payload"])["delayer"]["owner"],
        "step-start": lambda: json.loads(sent["input"])["delayer"]["owner"],
    }
    assert texts[kind]() == OWNER


@each_kind
def test_two_attempts_differ_in_nothing_but_their_number(kind: str) -> None:
    """Step Functions calls a repeat with another input an error."""
    client, message = Scripted(), a_message(action_of(kind))
    for attempt in (1, 2):
        reach(kind, evolve(message, attempt=attempt), lambda *_, **__: client)
    first, second = [str(arguments) for operation, arguments in client.calls if operation == OPERATIONS[kind]]
    assert first.replace("Delayer-Attempt:1", "Delayer-Attempt:2").replace("'1'", "'2'") == second
    assert (first == second) == (kind in ("lambda-invoke", "step-start"))
