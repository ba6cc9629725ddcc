"""The requests of CloudFormation to a custom resource, and the answers, which it waits for.

An answer goes to a URL in the request. Without one, CloudFormation waits for as long as the resource says
(ServiceTimeout; an hour if it says nothing), and then rolls back. So there is an answer whatever is raised.
"""

import json
import time
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from delayer.actions.rules.registration import CannotRegister, Command, MadeResource
from delayer.engines.ports import Observer, Unavailable
from delayer.ledger.model import detail_of

SECONDS: Final = 4.0  # for one attempt to answer
ATTEMPTS: Final = 2
# IAM takes seconds until what a role may do holds everywhere, and a stack that is created uses its roles at once.
REPEATED_FOR: Final = 30.0  # seconds
LONGEST_PAUSE: Final = 4.0
LOOPBACK: Final = ("localhost", "127.0.0.1")  # where the emulator takes an answer without TLS

DEFECT: Final = "a defect of Delayer: the log of the function that was asked says more"

Put = Callable[[str, bytes], None]


def is_request(event: Any) -> bool:
    """Whether CloudFormation asks, for a function that is invoked with something else as well."""
    return isinstance(event, Mapping) and "RequestType" in event


def settle(
    event: Mapping[str, Any],
    do: Callable[[Command], str | MadeResource],
    observer: Observer,
    put: "Put | None" = None,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Does what the request says, and answers it. `do` returns the physical id of the resource, or more.

    What AWS does not do is tried again for half a minute: it is safe to repeat. Returns the answer, for an operator who
    invokes the function by hand: such a request has no URL. Raises if CloudFormation does not take it.
    """
    answer: dict[str, Any] = {"Status": "SUCCESS", **_named(event)}
    try:
        answer |= _made(_done(command_of(event), do, observer, sleep))
    except (CannotRegister, Unavailable) as error:
        observer.warn("custom resource failed", reason=str(error))
        reason = str(error) if isinstance(error, CannotRegister) else "AWS did not do what was asked: try again"
        answer |= {"Status": "FAILED", "Reason": detail_of(reason)}
    except BaseException as error:  # noqa: BLE001 - whatever it is, CloudFormation waits for an answer
        observer.warn("custom resource failed", error=repr(error))
        answer |= {"Status": "FAILED", "Reason": DEFECT}
    if "ResponseURL" in event:
        _send(event["ResponseURL"], json.dumps(answer).encode(), put or _put, observer)
    return answer


def _done(
    command: Command, do: Callable[[Command], str | MadeResource], observer: Observer, sleep: Callable[[float], None]
) -> str | MadeResource:
    """Raises what `do` raises, and Unavailable only if it has lasted."""
    pause, waited = 0.5, 0.0
    while True:
        try:
            return do(command)
        except Unavailable as error:
            if waited >= REPEATED_FOR:
                raise
            observer.note("custom resource tried again", reason=str(error), waitedSeconds=waited)
        sleep(pause)
        waited, pause = waited + pause, min(2 * pause, LONGEST_PAUSE)


def _made(made: str | MadeResource) -> dict[str, Any]:
    if isinstance(made, str):
        return {"PhysicalResourceId": made}
    return {"PhysicalResourceId": made.physical_id, "Data": dict(made.data)}


def command_of(event: Mapping[str, Any]) -> Command:
    """The command in a request. Raises CannotRegister."""
    try:
        request, physical_id = event["RequestType"], event.get("PhysicalResourceId") or ""
        if request not in ("Create", "Update", "Delete") or not isinstance(event["ResourceProperties"], Mapping):
            raise CannotRegister("no request of CloudFormation")
        return Command(
            request=request,
            request_id=str(event["RequestId"]),
            stack=str(event["StackId"]),
            resource=str(event["LogicalResourceId"]),
            physical_id=str(physical_id),
            properties=event["ResourceProperties"],
        )
    except KeyError as error:
        raise CannotRegister("no request of CloudFormation") from error


def _named(event: Mapping[str, Any]) -> dict[str, str]:
    """CloudFormation knows the answer by these.

    A resource that could not be created gets the name that it would have got. CloudFormation deletes it by this name.
    """
    properties = event.get("ResourceProperties", {})
    kind = str(properties.get("Type", "")) if isinstance(properties, Mapping) else ""
    request_id = str(event.get("RequestId", ""))
    return {
        "RequestId": request_id,
        "StackId": str(event.get("StackId", "")),
        "LogicalResourceId": str(event.get("LogicalResourceId", "")),
        "PhysicalResourceId": str(event.get("PhysicalResourceId") or f"{detail_of(kind)}/{request_id}"),
    }


def _send(url: str, body: bytes, put: Put, observer: Observer) -> None:
    for left in reversed(range(ATTEMPTS)):
        try:
            put(url, body)
        except OSError as error:
            observer.warn("CloudFormation did not take the answer", error=type(error).__name__, attemptsLeft=left)
            if not left:
                raise
        else:
            return


def _put(url: str, body: bytes) -> None:
    """The URL is presigned, for a PUT without a content type."""
    parts = urlsplit(url)
    if parts.scheme != "https" and (parts.scheme, parts.hostname) not in {("http", name) for name in LOOPBACK}:
        raise ValueError("CloudFormation takes answers by https")
    request = urllib.request.Request(url, body, {"Content-Type": ""}, method="PUT")
    with urllib.request.urlopen(request, timeout=SECONDS):
        pass
