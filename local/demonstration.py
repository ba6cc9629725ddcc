"""Schedules one HTTP request a few seconds ahead and shows that it arrives, and how late."""

import json
import urllib.error
import urllib.request
from datetime import UTC, datetime
from typing import Any

from local.errors import LocalStackError
from local.receiver import Delivery, Receiver

AHEAD_SECONDS = 3
PATIENCE_SECONDS = 30


def example(receiver: Receiver) -> dict[str, Any]:
    """The body of a POST that has the receiver called in three seconds."""
    action = {"type": "http-request", "method": "POST", "url": f"{receiver.url}/hello"}
    return {"delaySeconds": AHEAD_SECONDS, "action": action, "payload": {"greeting": "hello"}}


def schedule(api_url: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST a schedule; the answer. LocalStackError when it is refused."""
    request = urllib.request.Request(
        f"{api_url}/schedules", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            content: dict[str, Any] = json.load(answer)
            return content
    except urllib.error.HTTPError as error:
        refusal = error.read().decode(errors="replace")
        raise LocalStackError(f"The demonstration's POST was answered {error.code}: {refusal}") from error
    except OSError as error:
        raise LocalStackError(f"The demonstration's POST was not answered: {error}.") from error


def demonstrate(api_url: str, receiver: Receiver) -> tuple[dict[str, Any], Delivery]:
    """Schedule the example and wait for it; LocalStackError when it does not arrive."""
    answer = schedule(api_url, example(receiver))
    try:
        return answer, receiver.wait_for(1, "/hello", AHEAD_SECONDS + PATIENCE_SECONDS)[0]
    except TimeoutError:
        raise LocalStackError(f"Schedule {answer['scheduleId']} did not arrive within {PATIENCE_SECONDS} s.") from None


def lateness_ms(point_in_time: str, delivery: Delivery) -> int:
    """Milliseconds between a point in time (RFC 3339) and the arrival."""
    return delivery.at_ms - round(datetime.fromisoformat(point_in_time).timestamp() * 1000)


def clock_time(epoch_ms: int) -> str:
    """An instant as UTC time of day with milliseconds."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime("%H:%M:%S.%f")[:-3] + "Z"
