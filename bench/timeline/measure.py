"""Fires schedules one after the other, and reads when each step was done: from logs, ledger, target and history."""

import json
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from attrs import frozen

from bench.command.progress import progress_bar
from bench.load import calls
from bench.load.calls import NewSchedule
from bench.load.clients import Client
from bench.load.due_times import SECOND
from bench.load.generator import now
from bench.report.figures import machine
from bench.timeline.figures import Firing, Measured, summary
from local.command.progress import step
from local.errors import EmulatorError
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack

PARAMETERS: Final = {"Lifecycle": "journal", "Canary": "off", "DelayerPeriod": "60"}
AHEAD: Final = 4 * SECOND  # by the fast track, and still so long that it waits in the delayer queue
LONGEST: Final = 30.0  # seconds that one firing may take
POLL: Final = 0.01  # seconds between two looks at the history
WARM_UP: Final = 5
PATH: Final = "/timeline"


@frozen(kw_only=True)
class Seen:
    """What the benchmark itself saw of a schedule."""

    schedule_id: str
    due: int
    posted: int
    answered: int
    reached: int
    shown: int
    status: Mapping[str, Any]


def measure(count: int) -> Measured:
    """So many, each alone. EmulatorError if one does not come through."""
    with Receiver() as receiver, EmulatedStack(0, PARAMETERS, progress=step) as stack:
        client = Client(stack.port)
        with progress_bar("Firing one after the other", WARM_UP + count) as advance:
            seen = []
            for number in range(WARM_UP + count):
                seen.append(fire(client, receiver, number))
                advance(number + 1)
        logs = {name: stack.logs(name) for name in ("stream-enqueuer", "delayer-relay", "executor-http-request")}
    firings = [firing(one, logs) for one in seen[WARM_UP:]]
    return Measured(machine=machine(), schedules=count, ahead=AHEAD, instants=summary(firings))


def fire(client: Client, receiver: Receiver, number: int) -> Seen:
    """One schedule, from its POST until its history shows how it ended."""
    posted = now()
    new = NewSchedule(due=posted + AHEAD, target=receiver.url + PATH)
    schedule_id = client.post(new)
    answered = now()
    try:
        arrived = receiver.wait_for(number + 1, PATH, LONGEST)[-1]
    except TimeoutError as error:
        raise EmulatorError(f"The schedule {number + 1} did not arrive: {error}") from None
    status = ended(client, schedule_id)
    return Seen(
        schedule_id=schedule_id,
        due=new.due,
        posted=posted,
        answered=answered,
        reached=arrived.at_ms,
        shown=now(),
        status=status,
    )


def ended(client: Client, schedule_id: str) -> Mapping[str, Any]:
    """What GET shows, once its history has the end."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        status: Mapping[str, Any] = json.loads(client.send(calls.get(schedule_id)).body)
        if "executed" in [event["event"] for event in status.get("history", ())]:
            return status
        time.sleep(POLL)
    raise EmulatorError(f"The history of {schedule_id} shows no end within {LONGEST:g} s.")


def firing(seen: Seen, logs: Mapping[str, str]) -> Firing:
    """By the clock of this machine, which all functions have, too."""
    logged = {
        name: logged_at(logs[function], name, seen.schedule_id)
        for function, name in (
            ("stream-enqueuer", "enqueued"),
            ("delayer-relay", "claimed"),
            ("executor-http-request", "executed"),
        )
    }
    at = {event["event"]: millis(event["at"]) for event in seen.status["history"]}
    return Firing(
        answered=seen.answered - seen.posted,
        sent=logged["enqueued"] - seen.posted,
        claim_began=at["claimed"] - seen.due,
        claimed=logged["claimed"] - seen.due,
        reached=seen.reached - seen.due,
        decided=at["executed"] - seen.due,
        written=logged["executed"] - seen.due,
        shown=seen.shown - seen.due,
    )


def logged_at(log: str, message: str, schedule_id: str) -> int:
    """When the line of a function about a schedule was written. EmulatorError if there is none."""
    for line in log.splitlines():
        if schedule_id in line and line.startswith("{"):
            entry = json.loads(line)
            if entry.get("message") == message:
                return millis(entry["timestamp"])
    raise EmulatorError(f"No function logged {message!r} for {schedule_id}.")


def millis(instant: str) -> int:
    """Epoch milliseconds."""
    return round(datetime.fromisoformat(instant).timestamp() * 1000)
