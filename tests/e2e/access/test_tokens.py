"""A stack that asks for tokens: its functions ask for scopes, and a deployment keeps the claim of the owners.

The gateway of the emulator checks tokens of issuers that it can reach only, so the functions are invoked with what API
Gateway would have made of a token.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from local.stack.emulated_stack import EmulatedStack

pytestmark = pytest.mark.thorough

ISSUER = "https://issuer.example/"
TOKENS = {
    "ApiAuthorization": "JWT",
    "JwtIssuer": ISSUER,
    "JwtAudience": "delayer",
    "JwtOwnerClaim": "org",
    "JwtReadScope": "delayer/read",
    "JwtWriteScope": "delayer/write",
}


@pytest.fixture(scope="module")
def stack() -> Iterator[EmulatedStack]:
    with EmulatedStack(parameters={"DelayerPeriod": "60", **TOKENS}, starts_functions=False) as stack:
        yield stack


def call(
    stack: EmulatedStack, function: str, route: str, body: Any = None, **claims: str
) -> tuple[int, dict[str, Any]]:
    event = {
        "routeKey": route,
        "headers": {},
        "body": json.dumps(body),
        "requestContext": {"authorizer": {"jwt": {"claims": {"iss": ISSUER, "sub": "user", **claims}}}},
    }
    invoked = stack.client("lambda").invoke(FunctionName=f"delayer-{function}", Payload=json.dumps(event).encode())
    answer = json.loads(invoked["Payload"].read())
    return answer["statusCode"], json.loads(answer["body"])


def test_a_token_needs_the_scope_and_the_claim(stack: EmulatedStack) -> None:
    body = {"delaySeconds": 3600, "action": {"type": "http-request", "url": "https://target.example/"}}
    post, listing = ("api-schedule-post", "POST /schedules"), ("api-schedule-list", "GET /schedules")
    status, problem = call(stack, *post, body, org="a", scope="openid delayer/read")
    assert (status, problem["type"], problem["scope"]) == (403, "urn:delayer:problem:missing-scope", "delayer/write")
    assert call(stack, *post, body, org="a", scp="[delayer/read delayer/write]")[0] == 201
    assert call(stack, *listing, org="a", scope="delayer/write")[1]["scope"] == "delayer/read"
    for claims in ({}, {"org": ""}, {"org": "[a b]"}):
        status, problem = call(stack, *post, body, scope="delayer/write", **claims)
        assert (status, problem["type"]) == (403, "urn:delayer:problem:unknown-caller")


def deployed(stack: EmulatedStack, **parameters: str) -> str:
    """The status of the stack after an update with other parameters."""
    cloudformation = stack.client("cloudformation")
    [known] = cloudformation.describe_stacks(StackName="delayer")["Stacks"]
    kept = [one["ParameterKey"] for one in known["Parameters"] if one["ParameterKey"] not in parameters]
    wanted: Any = [{"ParameterKey": key, "UsePreviousValue": True} for key in kept]
    wanted += [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
    cloudformation.update_stack(
        StackName="delayer",
        UsePreviousTemplate=True,
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=wanted,
    )
    for _ in range(600):
        [known] = cloudformation.describe_stacks(StackName="delayer")["Stacks"]
        if not known["StackStatus"].endswith("IN_PROGRESS"):
            break
        time.sleep(0.2)
    status: str = known["StackStatus"]
    return status


def test_another_claim_is_refused_without_the_flag(stack: EmulatedStack) -> None:
    """It takes some seconds: a stack is updated twice, and rolled back once."""
    assert deployed(stack, JwtOwnerClaim="sub") == "UPDATE_ROLLBACK_COMPLETE"
    reasons = [
        one.get("ResourceStatusReason", "")
        for one in stack.client("cloudformation").describe_stack_events(StackName="delayer")["StackEvents"]
    ]
    assert any("org -> sub orphans what was created" in reason for reason in reasons)
    listing = ("api-schedule-list", "GET /schedules")
    assert call(stack, *listing, org="a", scope="delayer/read")[0] == 200, (
        "the functions still know the claim of before"
    )
    assert deployed(stack, JwtOwnerClaim="sub", AllowOwnerClaimChange="sub") == "UPDATE_COMPLETE"
    assert call(stack, *listing, scope="delayer/read")[0] == 200
