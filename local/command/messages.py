"""The command prints these texts about the stack and about requests that arrived."""

import json
from datetime import UTC, datetime

from local.command.demonstration import example_body
from local.printable import printable
from local.project import PROJECT
from local.receiver import ReceivedRequest, Receiver
from local.stack.emulated_stack import EmulatedStack

KEPT = "Ctrl-C brings the stack to rest and saves its state; a kill saves nothing."
SHOWN_BYTES = 200  # of a body


def explanation(stack: EmulatedStack, receiver: Receiver, obstacle: str | None = None) -> str:
    """Tells the user what to try now, and where the logs are. `obstacle` says why the example fails with this stack."""
    body = json.dumps(example_body(receiver))
    logs = (stack.folder / "logs").relative_to(PROJECT)
    exports = stack.process.exports.relative_to(PROJECT)
    fate = KEPT if stack.keep else "Everything is in memory and is lost after Ctrl-C."
    note = f"\n{obstacle} So there was no demonstration, and this example fails.\n" if obstacle else ""
    return f"""
Delayer serves {stack.api_url}. Try:

  curl -i {stack.api_url}/schedules -H 'Content-Type: application/json' \\
    -d '{body}'
{note}
Requests to {receiver.url} are shown below.
Console:       {stack.api_url}/console   (what is due, what fired, what waits)
AWS endpoint:  . {exports}   (it exports the address and the keys of this run; then: aws dynamodb list-tables)
Logs:          {logs}/<function>.log, and {stack.process.log_file.relative_to(PROJECT)} of the emulator
{fate}
"""


def arrival(point_in_time: str, request: ReceivedRequest, checked: str) -> str:
    """When a request was due, when it arrived, how late it was, and whether it is signed."""
    lateness = lateness_ms(point_in_time, request)
    return f"due {printable(point_in_time)}, arrived {clock_time(request.at_ms)}: {lateness} ms late, {checked}"


def summary(request: ReceivedRequest, checked: str) -> str:
    """One line on a request that arrived: when, how late, if signed, what. Anybody may have sent it, with any headers.

    `checked` is what is known of its signature.
    """
    lateness = lateness_ms(request.headers.get("delayer-point-in-time", ""), request)
    late = "" if lateness is None else f"{lateness} ms late, "
    text = request.body[:SHOWN_BYTES].decode(errors="replace")
    return f"{clock_time(request.at_ms)} ({late}{checked}) " + printable(f"{request.method} {request.path} {text}")


def lateness_ms(point_in_time: str, request: ReceivedRequest) -> int | None:
    """Milliseconds between a point in time (RFC 3339) and the arrival; None if it is no point in time."""
    try:
        due = datetime.fromisoformat(point_in_time).timestamp()
    except (ValueError, OverflowError):
        return None
    return request.at_ms - round(due * 1000)


def clock_time(epoch_ms: int) -> str:
    """An instant as UTC time of day with milliseconds."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime("%H:%M:%S.%f")[:-3] + "Z"
