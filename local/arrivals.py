"""Shows the requests that reach the receiver: a line each, as long as the scheduler runs."""

from collections.abc import Callable
from datetime import UTC, datetime

from local.printable import printable
from local.receiver import ReceivedRequest, Receiver
from local.signatures import Signatures

SHOWN_BYTES = 200  # of a body


def show(receiver: Receiver, signatures: Signatures, goes_on: Callable[[], bool], shown: int = 0) -> None:
    """Print what the receiver gets after the first so many, until `goes_on` says no. It is asked each second."""
    while goes_on():
        with receiver.changed:
            if len(receiver.requests) == shown:
                receiver.changed.wait(1)
            new, shown = receiver.requests[shown:], len(receiver.requests)
        for request in new:
            print(summary(request, signatures.checked(request)), flush=True)


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
