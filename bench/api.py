"""The calls of the API, one after the other: how many a second, and what AWS would bill for one of them."""

import itertools
import time
import uuid
from collections import deque
from collections.abc import Callable

from attrs import field, frozen

from bench import calls
from bench.calls import Call, Wanted
from bench.clients import Script, Throughput
from bench.due_times import SECOND
from bench.progress import counting
from bench.requests import PerCall, at_rest, per_call
from bench.scenarios import Bench, counter, now
from local.progress import console, step

AHEAD = 12 * 3600 * SECOND  # nothing of it fires meanwhile
WARM_UP_SECONDS = 0.5  # and what the clients have begun by then: a process of the function for each of them
QUIET_SECONDS = 2  # without a request of any function
LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 20  # for quiet
GROUP = 150  # schedules; more than a page looks at
PAGE = 50
SEEN = 100  # schedules that are looked up in turn


@frozen(kw_only=True)
class ApiCall:
    """One row of the table."""

    name: str
    measured: Throughput
    warm_up_failures: dict[str, int]  # what came in the warm-up instead of the expected answer -> how often
    units: PerCall

    @property
    def is_correct(self) -> bool:
        """All were answered as expected, and there were some."""
        return bool(self.measured.calls) and not self.measured.failed and not self.warm_up_failures

    def failures(self) -> list[str]:
        """A sentence for each thing that came instead of the expected answer."""
        if not self.measured.calls:
            return [f"{self.name}: no call was made, as an earlier row left nothing to call it with"]
        warming = [f"{self.name}, warming up: {times} × {what}" for what, times in self.warm_up_failures.items()]
        return warming + [f"{self.name}: {times} × {what}" for what, times in self.measured.failures.items()]


@frozen(kw_only=True)
class Shelf:
    """What the scripts share: what the earlier ones created is what the later ones look up, replace and cancel."""

    wanted: Wanted
    group: str = field(factory=lambda: f"bench-{uuid.uuid4().hex[:12]}")
    ids: deque[str] = field(factory=deque)  # of live schedules
    names: deque[str] = field(factory=deque)
    numbers: "itertools.count[int]" = field(factory=itertools.count)

    def unique(self) -> str:
        """A name or a key that nobody has had."""
        return f"{self.group}-{next(self.numbers)}"


def post(shelf: Shelf) -> Script:
    """Plain ones; the ids go on the shelf."""
    while True:
        answer = yield calls.post(shelf.wanted)
        keep(shelf.ids, answer.schedule_id())


def post_with_key(shelf: Shelf) -> Script:
    """Each with a key of its own; the ids go on the shelf."""
    while True:
        answer = yield calls.post(shelf.wanted, key=shelf.unique())
        keep(shelf.ids, answer.schedule_id())


def get(shelf: Shelf) -> Script:
    """Some of those on the shelf in turn; they stay there."""
    for schedule_id in itertools.cycle(list(itertools.islice(shelf.ids, SEEN))):
        yield calls.get(schedule_id)


def patch(shelf: Shelf) -> Script:
    """Takes one from the shelf and changes its point in time again and again; another one if that fails."""
    while schedule_id := taken(shelf.ids):
        for later in itertools.count(1):
            call = calls.patch(schedule_id, shelf.wanted.due + later)
            answer = yield call
            if answer.failure(call):
                break
            schedule_id = answer.schedule_id()


def delete(shelf: Shelf) -> Script:
    """Takes them from the shelf, until it is empty."""
    while schedule_id := taken(shelf.ids):
        yield calls.delete(schedule_id)


def put_new(shelf: Shelf) -> Script:
    """Each with a name of its own; the names go on the shelf."""
    while True:
        name = shelf.unique()
        call = calls.put(name, shelf.wanted, replaces=False)
        answer = yield call
        keep(shelf.names, "" if answer.failure(call) else name)


def put_again(shelf: Shelf) -> Script:
    """Takes a name from the shelf and replaces its schedule again and again; another one if that fails."""
    while name := taken(shelf.names):
        call = calls.put(name, shelf.wanted, replaces=True)
        while not (yield call).failure(call):
            pass


def page(shelf: Shelf) -> Script:
    """The first page of the group."""
    call: Call = calls.page(shelf.group, PAGE)
    while True:
        yield call


def keep(things: deque[str], thing: str) -> None:
    """Put it on the shelf, if it is anything."""
    if thing:
        things.append(thing)


def taken(things: deque[str]) -> str:
    """The oldest on the shelf; empty if there is none. Safe for several threads."""
    try:
        return things.popleft()
    except IndexError:
        return ""


# In this order: each finds on the shelf what it needs.
ROWS: dict[str, Callable[[Shelf], Script]] = {
    "POST /schedules": post,
    "POST /schedules, Idempotency-Key": post_with_key,
    "GET /schedules/{id}": get,
    "PATCH /schedules/{id}": patch,
    "DELETE /schedules/{id}": delete,
    "PUT /schedules/by-name/{name}, creates": put_new,
    "PUT /schedules/by-name/{name}, replaces": put_again,
    f"GET /schedules?group=…, a page of {PAGE}": page,
}


def measure(bench: Bench, seconds: int) -> list[ApiCall]:
    """Each row by itself for this long."""
    shelf = Shelf(wanted=Wanted(now() + AHEAD, bench.receiver.url))
    fill_group(bench, shelf)
    return [measure_row(bench, name, script, shelf, seconds) for name, script in ROWS.items()]


def fill_group(bench: Bench, shelf: Shelf) -> None:
    """POST the members of the group that is listed."""
    with counting("POSTing a group", GROUP) as advance:
        bench.clients.post_all([shelf.wanted] * GROUP, counter(advance), shelf.group)


def measure_row(bench: Bench, name: str, script: Callable[[Shelf], Script], shelf: Shelf, seconds: int) -> ApiCall:
    """Warm up, measure, and read the meter when the functions behind the call have done their part."""
    with step(f"{name} for {seconds} s with {bench.clients.count} clients"):
        warm_up = bench.clients.call_for(WARM_UP_SECONDS, lambda: script(shelf))
        settle(bench)
        bench.stack.reset_meter()
        measured = bench.clients.call_for(seconds, lambda: script(shelf))
        settle(bench)
        units = per_call(bench.stack.meter(), measured.calls)
    return ApiCall(name=name, measured=measured, warm_up_failures=warm_up.failures, units=units)


def settle(bench: Bench) -> None:
    """Wait until no function does anything any more: streams and queues come after the answer."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    last, since = at_rest(bench.stack.meter()), time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        if time.monotonic() > deadline:
            console.print(f"  The functions were still at work after {PATIENCE_SECONDS} s; some of it is not counted.")
            return
        time.sleep(LOOK_SECONDS)
        reading = at_rest(bench.stack.meter())
        if reading != last:
            last, since = reading, time.monotonic()
