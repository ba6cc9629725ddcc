"""`pointInTime` in every response is what the client asked for, also of what was overdue when it came.

Each test goes from the use case to the response, wherever the schedule is by then.
"""

import json
from typing import Any

import pytest
from attrs import define, field

from delayer.accept import routes as schedules
from delayer.accept.rules.listing import admit_listing
from delayer.accept.rules.status import Status
from delayer.accept.use_cases.accept import Accepted
from delayer.accept.use_cases.cancel import Cancelled, Stop, Stopped
from delayer.accept.use_cases.list_schedules import ListSchedules
from delayer.accept.use_cases.lookup import Lookup
from delayer.accept.use_cases.replace import Replaced
from delayer.actions.rules.model import Retry
from delayer.http import answers
from delayer.http.answers import Response
from delayer.ledger.model import State
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, STALE_AFTER, Millis, format_instant
from delayer.schedule.schedule import Schedule
from delayer.wiring.build import build
from tests.looking import all_rows, empty
from tests.samples import ACTION
from tests.world import START, World

OWNER = "owner"
OFFSETS = pytest.mark.parametrize(
    "offset", [-60 * SECOND, -1, 0, 1, 5 * MINUTE, DAY + 7]
)  # from the moment of the POST


def content(response: Response) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(response.body)
    return body


@define(slots=False)
class Client:
    """Asks for one schedule, and looks at it in every way there is."""

    offset: Millis
    world: World = field(factory=World)

    def __attrs_post_init__(self) -> None:
        self.asked = START + self.offset
        self.text = format_instant(self.asked)
        fields = {"pointInTime": self.text, "action": ACTION, "group": "g"}
        answer = self.world.accept(json.dumps(fields).encode(), OWNER)
        assert isinstance(answer, Accepted)
        self.answer = answer
        self.id = answer.schedule_id

    @property
    def schedule(self) -> Schedule:
        return self.world.stored(self.id)

    def run(self, until: Millis) -> None:
        """Of the time before its last hour nothing is played: a day of empty minutes would take some seconds."""
        self.world.clock.sleep_until(self.asked - HOUR)
        self.world.run_until(max(until, self.world.clock.now()))

    def lookup(self) -> dict[str, Any]:
        found = build(Lookup, self.world.ports("lookup")).by_id(self.id, OWNER)
        assert isinstance(found, Status)
        return content(answers.response(200, schedules.shown(found)))

    def listed(self) -> dict[str, Any]:
        listing = admit_listing({"group": "g"})
        page = build(ListSchedules, self.world.ports("list"))(listing, OWNER)
        [one] = content(schedules.page(page.schedules, ""))["schedules"]
        return dict(one)

    def check(self, state: State) -> None:
        for shown in (self.lookup(), self.listed()):
            assert (shown["scheduleId"], shown["state"], shown["pointInTime"]) == (self.id, state, self.text)


@OFFSETS
def test_post(offset: Millis) -> None:
    client = Client(offset)
    assert content(schedules.created(client.id, client.answer.point_in_time))["pointInTime"] == client.text
    assert client.schedule.point_in_time == client.asked
    assert client.schedule.address.due == max(client.asked, START), "what is overdue is filed under the present"


@OFFSETS
def test_get_and_list_in_the_table(offset: Millis) -> None:
    client = Client(offset)
    client.check(State.SCHEDULED)
    assert client.lookup()["createdAt"] == format_instant(START), "found in the table"


@OFFSETS
def test_get_and_list_on_the_way(offset: Millis) -> None:
    """Neither the table nor the ledger knows it: all there is is its id."""
    client = Client(offset)
    client.world.table.delete(list(all_rows(client.world.table)))
    assert client.world.row(client.schedule) is None
    client.check(State.ENQUEUED)
    assert "createdAt" not in client.lookup()
    assert client.lookup().get("overdue", False) is (offset < 0)


@OFFSETS
def test_get_and_list_once_claimed_and_at_its_end(offset: Millis) -> None:
    client = Client(offset)
    client.world.target.answers = [Retry(detail="HTTP 503")]
    client.run(client.asked + 500)
    client.check(State.CLAIMED)
    client.run(client.asked + HOUR)
    client.check(State.EXECUTED)


@OFFSETS
def test_get_of_what_only_the_journal_knows(offset: Millis) -> None:
    client = Client(offset)
    client.run(client.asked + HOUR)
    client.world.update_journal()
    empty(client.world.ledger)
    client.world.clock.move(STALE_AFTER + DAY)
    shown = client.lookup()
    assert (shown["state"], shown["pointInTime"]) == (State.EXECUTED, client.text)


@OFFSETS
def test_delete(offset: Millis) -> None:
    """For the first time, and again."""
    client = Client(offset)
    for _ in range(2):
        answer = client.world.cancel(client.id, OWNER)
        assert isinstance(answer, Cancelled)
        shown = content(schedules.ended(answer.row))
        assert (shown["state"], shown["pointInTime"]) == (State.CANCELLED, client.text)
    client.check(State.CANCELLED)


@OFFSETS
def test_stop(offset: Millis) -> None:
    client = Client(offset)
    client.world.target.answers = [Retry(detail="HTTP 503")]
    client.run(client.asked + 500)
    answer = build(Stop, client.world.ports("stop"))(client.id, OWNER)
    assert isinstance(answer, Stopped)
    assert content(schedules.stopping(answer.row))["pointInTime"] == client.text


def patch(client: Client, point_in_time: Millis | None) -> None:
    """From here on the client looks at the schedule that took the place."""
    answer = client.world.replace.by_id(client.id, OWNER, point_in_time=point_in_time, payload="2")
    assert isinstance(answer, Replaced)
    assert answer.previous == client.id
    new = answer.schedule
    client.id, client.text = new.id, client.text if point_in_time is None else format_instant(point_in_time)
    assert content(schedules.replaced(new.id, new.point_in_time, client.id))["pointInTime"] == client.text


@OFFSETS
def test_patch_of_the_payload_alone_keeps_it(offset: Millis) -> None:
    """Also half a minute later, when more of them are overdue."""
    client = Client(offset)
    text = client.text
    client.world.clock.move(30 * SECOND)
    patch(client, None)
    assert client.text == text
    shown = client.lookup()
    assert (shown["state"], shown["pointInTime"], shown["payload"]) == (State.SCHEDULED, text, 2)
    client.world.table.delete(list(all_rows(client.world.table)))
    assert client.lookup()["pointInTime"] == text, "by its id alone"


@OFFSETS
def test_patch_of_the_point_in_time_replaces_it(offset: Millis) -> None:
    """The old one goes on saying what was asked for it."""
    client = Client(offset)
    text, old = client.text, client.id
    patch(client, START + HOUR)
    assert client.lookup()["pointInTime"] == format_instant(START + HOUR)
    client.id = old
    shown = client.lookup()
    assert (shown["state"], shown["pointInTime"]) == (State.REPLACED, text)
