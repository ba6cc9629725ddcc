"""The scripts of the clients, one for each call of the API."""

import itertools
import uuid
from collections import deque
from collections.abc import Callable

from attrs import field, frozen

from bench.load import calls
from bench.load.calls import NewSchedule
from bench.load.clients import Script

PAGE = 50  # schedules of a listed page
LOOKED_UP = 100  # schedules that are looked up in turn


@frozen(kw_only=True)
class CreatedSchedules:
    """What the scripts share: the earlier ones create the schedules that the later ones look up, replace and cancel."""

    new: NewSchedule  # what every POST and PUT asks for
    group: str = field(factory=lambda: f"bench-{uuid.uuid4().hex[:12]}")
    ids: deque[str] = field(factory=deque)  # of schedules that have not ended
    names: deque[str] = field(factory=deque)
    numbers: "itertools.count[int]" = field(factory=itertools.count)

    def unique(self) -> str:
        """A name or a key that was never used before."""
        return f"{self.group}-{next(self.numbers)}"


def post(created: CreatedSchedules) -> Script:
    """Create schedules without a key, and add their ids."""
    while True:
        response = yield calls.post(created.new)
        add(created.ids, response.schedule_id())


def post_with_key(created: CreatedSchedules) -> Script:
    """Create schedules, each with a key of its own, and add their ids."""
    while True:
        response = yield calls.post(created.new, key=created.unique())
        add(created.ids, response.schedule_id())


def get(created: CreatedSchedules) -> Script:
    """Look up some of the created schedules in turn."""
    for schedule_id in itertools.cycle(list(itertools.islice(created.ids, LOOKED_UP))):
        yield calls.get(schedule_id)


def patch(created: CreatedSchedules) -> Script:
    """Take one of the ids and change its point in time again and again; if that fails, continue with another one."""
    while schedule_id := take_oldest(created.ids):
        for later in itertools.count(1):
            call = calls.patch(schedule_id, created.new.due + later)
            response = yield call
            if response.failure(call):
                break
            schedule_id = response.schedule_id()


def delete(created: CreatedSchedules) -> Script:
    """Take the ids and cancel their schedules, until there are no more."""
    while schedule_id := take_oldest(created.ids):
        yield calls.delete(schedule_id)


def put_new(created: CreatedSchedules) -> Script:
    """Create schedules, each with a name of its own, and add the names."""
    while True:
        name = created.unique()
        call = calls.put(name, created.new, replaces=False)
        response = yield call
        add(created.names, "" if response.failure(call) else name)


def put_again(created: CreatedSchedules) -> Script:
    """Take one of the names and replace its schedule again and again; if that fails, continue with another one."""
    while name := take_oldest(created.names):
        call = calls.put(name, created.new, replaces=True)
        while not (yield call).failure(call):
            pass


def list_group(created: CreatedSchedules) -> Script:
    """Read the first page of the group."""
    call = calls.first_page(created.group, PAGE)
    while True:
        yield call


def add(values: deque[str], value: str) -> None:
    """Add a value unless it is empty."""
    if value:
        values.append(value)


def take_oldest(values: deque[str]) -> str:
    """Remove the oldest value and return it; empty if there is none. Several threads may call this at once."""
    try:
        return values.popleft()
    except IndexError:
        return ""


# In this order: each script needs what the ones before it have created.
SCRIPTS: dict[str, Callable[[CreatedSchedules], Script]] = {
    "POST /schedules": post,
    "POST /schedules, Idempotency-Key": post_with_key,
    "GET /schedules/{id}": get,
    "PATCH /schedules/{id}": patch,
    "DELETE /schedules/{id}": delete,
    "PUT /schedules/by-name/{name}, creates": put_new,
    "PUT /schedules/by-name/{name}, replaces": put_again,
    f"GET /schedules?group=…, a page of {PAGE}": list_group,
}
