"""What the command prints about the stack and about requests that arrived."""

import json
from datetime import UTC, datetime

from local.command.demonstration import example_body
from local.project import PROJECT
from local.receiver import ReceivedRequest, Receiver
from local.stack.emulated_stack import EmulatedStack

SHOWN_BYTES = 200  # of a body


def explanation(stack: EmulatedStack, receiver: Receiver) -> str:
    """What the user can try now, and where the logs are."""
    body = json.dumps(example_body(receiver))
    logs = (stack.folder / "logs").relative_to(PROJECT)
    return f"""
Delayer serves {stack.api_url}. Try:

  curl -i {stack.api_url}/schedules -H 'Content-Type: application/json' \\
    -d '{body}'

Requests to {receiver.url} are shown below.
AWS endpoint:  export AWS_ENDPOINT_URL={stack.aws_endpoint_url} AWS_DEFAULT_REGION=us-east-1 \\
                 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
Logs:          {logs}/<function>.log, and {stack.process.log_file.relative_to(PROJECT)} of the emulator
Everything is in memory and is lost after Ctrl-C.
"""


def arrival(point_in_time: str, request: ReceivedRequest) -> str:
    """When a request was due, when it arrived, and how late it was."""
    lateness = lateness_ms(point_in_time, request)
    return f"due {point_in_time}, arrived {clock_time(request.at_ms)}: {lateness} ms late"


def summary(request: ReceivedRequest) -> str:
    """One line on a request that arrived: when, how late, what."""
    due = request.headers.get("delayer-point-in-time")
    late = f" ({lateness_ms(due, request)} ms late)" if due else ""
    text = request.body[:SHOWN_BYTES].decode(errors="replace")
    return f"{clock_time(request.at_ms)}{late} {request.method} {request.path} {text}"


def lateness_ms(point_in_time: str, request: ReceivedRequest) -> int:
    """Milliseconds between a point in time (RFC 3339) and the arrival."""
    return request.at_ms - round(datetime.fromisoformat(point_in_time).timestamp() * 1000)


def clock_time(epoch_ms: int) -> str:
    """An instant as UTC time of day with milliseconds."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime("%H:%M:%S.%f")[:-3] + "Z"
