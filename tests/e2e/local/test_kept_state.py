"""A stack that keeps its state: stopped in the middle of a burst and started again, nothing is lost, early, or twice.

One story for all tests: a run that makes something of each kind and is stopped, then a pause in which much falls due,
then a run that begins with what was saved.
"""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from attrs import define, field

from delayer.schedule.instants import HOUR, SECOND, Millis, format_instant
from delayer_client import Backoff, Retry, Schedule
from local.errors import EmulatorError
from local.keeping.beginning import Choice
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from local.stack.keeper import Saved
from local.stack.ports import free_ports
from tests.e2e.client import Client, millis, now, sleep_until
from tests.e2e.local.ports import three_free

pytestmark = pytest.mark.thorough

PARAMETERS = {"DelayerPeriod": "60"}
BURST = 200
AT_ONCE = 150  # of them, due within a second; the others later than a relay may hold what it has received
AFTERWARDS: Millis = 20 * SECOND  # to save and to stop takes some seconds, more on a machine that is busy
UNTIL_THE_BURST: Millis = 25 * SECOND  # the rest of the first run is done by then, also on a machine that is busy
PATIENCE = 60.0  # seconds, for what fires at the start: on a machine that is busy, each function takes its time
SECRET = "S3CR3T-of-the-first-run"
RETRY = Retry(max_attempts=3, backoff=Backoff(first=60, factor=1, max=60))
QUEUE = "made-by-hand"
TARGET = {"type": "http-request"}


@define
class Story:
    """What was made, and what came of it."""

    receiver: Receiver
    port: int
    posted: dict[str, Schedule] = field(factory=dict)  # by path
    series: dict[str, Any] = field(factory=dict)
    secret: dict[str, Any] = field(factory=dict)
    arrived_before: list[str] = field(factory=list)  # paths
    saved: list[Saved] = field(factory=list)
    started_at: Millis = 0
    running: EmulatedStack | None = None
    client: Client | None = None

    @property
    def second(self) -> Client:
        """The client of the second run."""
        assert self.client
        return self.client

    def stack(self, keep: Choice) -> EmulatedStack:
        return EmulatedStack(self.port, PARAMETERS, keep=keep)


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    with Receiver() as receiver:
        story = Story(receiver=receiver, port=three_free())
        folder = story.stack(Choice.CLEAN).folder
        try:
            with story.stack(Choice.CLEAN) as stack:
                first_run(story, stack, Client(stack, receiver))
            story.arrived_before = [request.path for request in receiver.requests]
            sleep_until(due_of(story, "/in-the-table") + SECOND)
            assert len(receiver.requests) == len(story.arrived_before), "a stack that has ended does nothing"
            with story.stack(Choice.CLEAN) as stack:
                story.started_at, story.running, story.client = now(), stack, Client(stack, receiver)
                yield story
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def due_of(story: Story, path: str) -> Millis:
    return millis(story.posted[path].point_in_time)


def first_run(story: Story, stack: EmulatedStack, client: Client) -> None:
    """Something in each state, then a burst, and a stop in the middle of it."""
    client.beyond_the_period("/in-the-table")
    client.schedule("/far", now() + HOUR)
    story.receiver.fail_first("/fails", 1, status=404)
    client.schedule("/fails", now() + SECOND)
    story.receiver.fail_first("/retried", 1)
    assert client.call("PUT", "/connections/kept", {"type": "bearer", "token": SECRET})[0] == 201
    story.secret = client.call("GET", "/signing-secret")[2]
    own = client.stack.client("sqs")
    own.send_message(QueueUrl=own.create_queue(QueueName=QUEUE)["QueueUrl"], MessageBody="mine", DelaySeconds=1)
    base = now() + UNTIL_THE_BURST
    in_the_pause = base + AFTERWARDS
    at = format_instant(in_the_pause)
    secret = client.target("/with-a-secret", connection="kept")
    client.posted["/with-a-secret"] = client.delayer.schedule(secret, at=at)
    client.schedule("/in-the-queue", in_the_pause)
    client.schedule("/relaxed", in_the_pause, precision="relaxed")
    # Every ten minutes: the second one is not due before the first one has arrived, also on a machine that is busy.
    repeat = {"every": "PT10M", "anchor": format_instant(in_the_pause), "from": format_instant(in_the_pause)}
    target = {**TARGET, "url": client.receiver.url + "/series"}
    status, _, story.series = client.call("POST", "/series", {"repeat": repeat, "action": target})
    assert status == 201
    post_burst(client, base)
    retried = client.schedule("/retried", now(), retry=RETRY)
    client.waiting_for(retried.id, 2, PATIENCE)
    client.ledger_state(client.posted["/fails"].id, "failed", PATIENCE)
    story.posted = client.posted
    assert now() < base, "the machine is too busy for this story"
    story.receiver.wait_for(1, "/burst/0", PATIENCE)
    story.saved.append(stack.save())


def post_burst(client: Client, base: Millis) -> None:
    """In batches, as quickly as an owner may; the others of a batch are posted again."""
    dues = {f"/burst/{one}": base + one * SECOND // AT_ONCE for one in range(AT_ONCE)}
    dues |= {f"/burst/{one}": base + AFTERWARDS + one for one in range(AT_ONCE, BURST)}
    while dues:
        batch = list(dues.items())[:50]
        bodies = [
            {"pointInTime": format_instant(due), "action": {**TARGET, "url": client.receiver.url + path}}
            for path, due in batch
        ]
        status, _, body = client.call("POST", "/schedules/batch", {"schedules": bodies})
        assert status == 200, body
        for (path, _), result in zip(batch, body["results"], strict=True):
            if result["status"] == 201:
                client.posted[path] = msgspec.convert(result["schedule"], Schedule)
                del dues[path]


def arrivals(story: Story, path: str) -> list[Any]:
    return story.receiver.wait_for(1, path, PATIENCE)


def test_a_stop_in_mid_burst_loses_nothing(story: Story) -> None:
    """It takes two seconds, in which a second arrival would be there."""
    burst = {f"/burst/{one}" for one in range(BURST)}
    assert 0 < len(burst & set(story.arrived_before)) < BURST, "the stop was in the middle of it"
    assert story.saved[0].left == {}, "it came to rest"
    for path in burst:
        arrivals(story, path)
    time.sleep(2)  # a second one would be there by then
    counted = Counter(request.path for request in story.receiver.requests if request.path in burst)
    assert counted == dict.fromkeys(burst, 1)
    assert [
        one.path for one in story.receiver.requests if one.path in burst and one.at_ms < due_of(story, one.path)
    ] == []


@pytest.mark.parametrize("path", ["/in-the-queue", "/in-the-table", "/relaxed", "/with-a-secret"])
def test_what_fell_due_in_the_pause_fires_at_the_start(story: Story, path: str) -> None:
    """It may take seconds: the ticks at the start are waited for."""
    [request] = arrivals(story, path)
    assert path not in story.arrived_before
    assert request.at_ms >= due_of(story, path)
    assert request.at_ms - story.started_at < 45 * SECOND, "and not with some later minute"
    assert story.second.ledger_state(story.posted[path].id, "executed")


def test_a_retry_that_waited_is_made(story: Story) -> None:
    requests = story.receiver.wait_for(2, "/retried", PATIENCE)
    assert [request.status for request in requests] == [503, 200]
    assert story.arrived_before.count("/retried") == 1


def test_the_values_of_connections_and_the_secrets_of_owners_are_the_same(story: Story) -> None:
    [request] = arrivals(story, "/with-a-secret")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert story.second.call("GET", "/signing-secret")[2] == story.secret


def test_a_series_goes_on(story: Story) -> None:
    """Its first occurrence fell due in the pause. It takes seconds: the task of the minute is waited for."""
    [request, *_] = arrivals(story, "/series")
    assert request.headers["delayer-schedule-id"] == story.series["occurrence"]["scheduleId"]
    assert "/series" not in story.arrived_before
    deadline = time.monotonic() + PATIENCE
    while (found := story.second.call("GET", f"/series/{story.series['seriesId']}")[2])["occurrence"]["number"] < 2:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def test_ids_are_genuine_and_a_cancel_tells_the_truth(story: Story) -> None:
    path = f"/schedules/{story.posted['/far'].id}"
    assert story.second.call("GET", path)[2]["state"] == "scheduled"
    assert story.second.call("DELETE", path)[2]["state"] == "cancelled"
    for over in ("/burst/0", "/fails"):
        arrivals(story, over)
        assert story.second.call("DELETE", f"/schedules/{story.posted[over].id}")[0] == 409


def test_what_has_failed_can_be_redriven(story: Story) -> None:
    """It takes a second or two: functions start."""
    schedule_id = story.posted["/fails"].id
    (entry,) = story.second.dead_letters(f"failed/{schedule_id}/")
    story.second.operate("redrive", key=entry["key"])
    requests = story.receiver.wait_for(2, "/fails", PATIENCE)
    assert [request.status for request in requests] == [404, 200]
    assert story.second.history(schedule_id, "executed")[0].event == "scheduled", "of the first run"


def test_a_queue_that_somebody_has_made_is_there_with_its_messages(story: Story) -> None:
    own = story.second.stack.client("sqs")
    url = own.get_queue_url(QueueName=QUEUE)["QueueUrl"]
    [message] = own.receive_message(QueueUrl=url, WaitTimeSeconds=5)["Messages"]
    assert message["Body"] == "mine"


def test_a_second_process_is_refused(story: Story) -> None:
    another = story.stack(Choice.CLEAN)
    another.port, another.aws_port = free_ports()  # or its ports would be refused first
    with pytest.raises(EmulatorError, match="Another process uses the state"):
        another.start()
    another.stop()


def test_a_stopping_stack_sends_clients_away_and_an_unsaved_one_says_what_it_has_lost(story: Story) -> None:
    """The last test: it ends the second run, without saving."""
    client = story.second
    client.stack.request_emulator("PUT", "/_local/state/rest", {})
    status, headers, problem = client.post({})
    assert (status, headers["retry-after"]) == (503, "2")
    assert "started again" in problem["detail"]
    assert story.running
    story.running.stop()  # as by a kill
    with pytest.raises(EmulatorError, match=r"was killed .*is lost\. The state of .* schedules, .*KEEP=old.*KEEP=new"):
        story.stack(Choice.CLEAN).start()
