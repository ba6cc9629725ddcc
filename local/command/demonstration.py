"""Schedules one HTTP request a few seconds ahead, and waits until it arrives."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from local.deployment.settings import PARAMETERS_ON_ONE_MACHINE
from local.errors import EmulatorError
from local.receiver import ReceivedRequest, Receiver

AHEAD_SECONDS = 3
LONGEST_WAIT_SECONDS = 30
EXAMPLE_TYPE = "http-request"


def obstacle_in(parameters: Mapping[str, str]) -> str | None:
    """Why the example cannot work with these template parameters, as a sentence; None if it can."""
    for name, consequence in (
        ("AllowPrivateTargets", "targets on this machine are refused, the receiver included."),
        ("PrivateTargetsAccount", "targets on this machine are refused, the receiver included."),
        ("ApiAuthorization", "the API refuses requests without credentials."),
    ):
        value = parameters.get(name, PARAMETERS_ON_ONE_MACHINE[name])
        if value != PARAMETERS_ON_ONE_MACHINE[name]:
            return f"{name}={value}: {consequence}"
    actions = parameters.get("Actions", EXAMPLE_TYPE)
    if EXAMPLE_TYPE not in (name.strip() for name in actions.split(",")):
        return f"Actions={actions}: {EXAMPLE_TYPE} has no executor."
    return None


def demonstrate(api_url: str, receiver: Receiver) -> tuple[dict[str, Any], ReceivedRequest]:
    """Schedule the example and wait for it: the API's response, and the request. EmulatorError if none arrives."""
    response = schedule(api_url, example_body(receiver))
    try:
        return response, receiver.wait_for(1, "/hello", AHEAD_SECONDS + LONGEST_WAIT_SECONDS)[0]
    except TimeoutError:
        reason = f"did not arrive within {LONGEST_WAIT_SECONDS} s"
        raise EmulatorError(f"Schedule {response['scheduleId']} {reason}.") from None


def example_body(receiver: Receiver) -> dict[str, Any]:
    """The body of a POST: in three seconds, call the receiver."""
    action = {"type": EXAMPLE_TYPE, "method": "POST", "url": f"{receiver.url}/hello"}
    return {"delaySeconds": AHEAD_SECONDS, "action": action, "payload": {"greeting": "hello"}}


def schedule(api_url: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST a schedule and return the response's body. EmulatorError if the schedule is refused."""
    request = urllib.request.Request(
        f"{api_url}/schedules", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
            content: dict[str, Any] = json.load(response)
            return content
    except urllib.error.HTTPError as error:
        refusal = error.read().decode(errors="replace")
        raise EmulatorError(f"The demonstration's POST was refused with {error.code}: {refusal}") from error
    except OSError as error:
        raise EmulatorError(f"The demonstration's POST got no response: {error}.") from error
