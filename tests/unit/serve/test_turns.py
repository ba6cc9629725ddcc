"""A turn is bounded, and nothing that is done in it can end the turns, or keep what is due waiting."""

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest

from delayer.engines.ports import Outgoing, ReceivedMessage, Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import KeyRing
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Put
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest, Caller
from delayer.schedule.instants import MINUTE, SECOND
from delayer.serve.beside.beside import ReadsQueue
from delayer.serve.beside.events import route
from delayer.serve.suspects.lives import Lives
from delayer.serve.turns.attempts import Attempts, Pool
from delayer.serve.turns.fire import Fire
from delayer.serve.turns.lead import CALLS, Leader
from delayer.serve.turns.machine import LAYOUT, ApiCall
from delayer.serve.turns.turn import ROWS, TurnJob
from delayer_client.testing.stack import SETTINGS, Observer, Unhurried
from tests.unit.serve.machines import HERE, Running

SAID = "a secret of a client"


def sleeps(running: Running) -> Callable[..., Any]:
    clock = running.machine.ports("anything").clock

    def do(*_: object) -> None:
        running.machine.again.failed("somebody", 1, "this is undone")
        clock.sleep_until(running.clock.now() + SECOND)

    return do


def test_a_job_that_would_wait_is_undone_and_ends_nothing() -> None:
    """A command of an operator, or whatever else comes from another thread."""
    running = Running()
    reported: list[Any] = []
    running.machine.turn([TurnJob(do=sleeps(running), deliver=reported.append)])
    assert [type(one) for one in reported] == [Unavailable]
    assert running.database.read("SELECT * FROM again", ()) == []
    running.schedule()


def test_what_asks_for_the_end_of_the_process_ends_nothing() -> None:
    """Code that others have written may call `sys.exit`."""
    running = Running()
    reported: list[Any] = []
    running.machine.turn([TurnJob(do=sys.exit, deliver=reported.append)])
    assert [type(one) for one in reported] == [Unavailable]
    running.schedule()


def test_a_call_that_would_wait_is_answered_503(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running()
    monkeypatch.setattr(running.machine.function("api-schedule-post").handler, "answer", sleeps(running))
    status, _ = running.call("POST", "/schedules", {})
    assert status == 503
    monkeypatch.undo()
    running.schedule()


def test_the_text_of_a_defect_is_not_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hold what a client sent (ADR 0067)."""
    running = Running()

    def fails(*_: object, **__: object) -> None:
        raise ValueError(SAID)

    monkeypatch.setitem(running.machine.uses, "stream-lifecycle", fails)
    monkeypatch.setattr(Fire, "page", fails)
    running.schedule()
    running.machine.turn()
    running.machine.turn()
    lines = [one for one in running.observer.lines if "error" in one[2]]
    assert {one[0] for one in lines} == {
        "a schedule could not be fired: the relay has it",
        "stream-lifecycle has failed",
    }
    assert {one[2]["error"] for one in lines} == {"ValueError"}
    assert all(one[2]["where"] for one in lines)
    assert SAID not in str(running.observer.lines)


# ------------------------------------------------------------ shares

HOOK = {"type": "http-request", "url": "https://example.com/"}


class Flood:
    """A machine whose clock goes on by what it writes, and calls that never end: time is counted, and none is spent."""

    def __init__(self, running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running = running
        self.answered: list[tuple[str, int]] = []  # method and status, in order
        self.written: list[tuple[int, int]] = []  # rows and bytes of each turn
        begin, commit = Database.begin, Database.commit

        def begins(database: Database) -> None:
            begin(database)
            self._rows = database.changes

        def commits(database: Database) -> None:
            rows = database.changes - self._rows
            self.written.append((rows, database.bytes_written))
            commit(database)
            running.clock.at += rows // 20  # milliseconds

        monkeypatch.setattr(Database, "begin", begins)
        monkeypatch.setattr(Database, "commit", commits)

    def call(self, method: str, path: str, body: object = None) -> ApiCall:
        routed = route(method, path)

        def answer(response: Response) -> None:
            self.answered.append((method, response.status))

        request = ApiRequest(
            route=routed.route,
            path=path,
            parameters=routed.parameters,
            query={},
            headers={},
            body=b"" if body is None else json.dumps(body).encode(),
            caller=Caller(address=HERE),
        )
        return ApiCall(function=routed.function, request=request, answer=answer)

    def batches(self, number: int) -> list[ApiCall]:
        one = {"delaySeconds": 7200, "action": HOOK}
        return [self.call("POST", "/schedules/batch", {"schedules": [one] * 100}) for _ in range(number)]


def test_under_a_flood_of_posts_a_turn_is_short_and_what_is_due_fires_on_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running()
    due = [running.schedule(1, payload=str(one)) for one in range(5)]
    at = running.clock.at + SECOND
    running.clock.at = at - 60
    flood = Flood(running, monkeypatch)
    calls = flood.batches(8)
    while len(flood.answered) < 8:
        running.machine.turn(calls)
        while running.started:
            running.started.popleft()()
        calls = []
    assert set(flood.answered) == {("POST", 200)}
    assert max(rows for rows, _ in flood.written) < 2 * (ROWS + 600), "a batch of a hundred is whole"
    assert len(flood.written) >= 3
    claimed = {one["scheduleId"]: one["claimedAt"] for one in running.machine.items.rows("ledger")}
    assert set(claimed) == set(due)
    assert max(claimed.values()) <= at + 50, "each turn looks for what is due, before it answers anybody"


def test_a_turn_has_a_bound_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running()
    flood = Flood(running, monkeypatch)
    body = {"delaySeconds": 60, "action": HOOK, "payload": "x" * 200_000}
    running.machine.turn([flood.call("POST", "/schedules", body) for _ in range(20)])
    assert 0 < len(flood.answered) < 10
    while len(flood.answered) < 20:
        running.machine.turn()
    assert {status for _, status in flood.answered} == {201}
    running.run(2 * MINUTE)
    assert max(size for _, size in flood.written) < 5_000_000, "also when they fire, and are told of"
    assert running.machine.waiting() == 0


def test_what_ends_something_comes_before_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that wait, new ones, and the outcomes of 64 attempts are all there: a cancel is answered first."""
    running = Running()
    soon = [running.schedule() for _ in range(64)]
    late = running.schedule(60)
    running.machine.turn()
    running.machine.turn()
    flood = Flood(running, monkeypatch)
    running.machine.turn(flood.batches(8))
    while running.started:
        running.started.popleft()()
    before = len(flood.answered)
    assert before < 8
    running.machine.turn([*flood.batches(8), flood.call("DELETE", f"/schedules/{late}")])
    assert flood.answered[before] == ("DELETE", 200)
    running.settle()
    assert running.call("GET", f"/schedules/{soon[0]}")[1]["state"] == "executed"


def test_a_flood_of_cancels_has_its_share_too(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running()
    ids = [running.schedule(60) for _ in range(250)]
    due = running.schedule(1)
    running.clock.at += SECOND
    flood = Flood(running, monkeypatch)
    running.machine.turn([flood.call("DELETE", f"/schedules/{one}") for one in ids])
    assert len(flood.answered) < 250
    [claimed] = [one["scheduleId"] for one in running.machine.items.rows("ledger") if one["state"] == "claimed"]
    assert claimed == due
    for _ in range(20):
        running.machine.turn()
    assert flood.answered == [("DELETE", 200)] * 250


def test_outcomes_that_exceed_their_share_are_written_in_the_next_turn() -> None:
    running = Running()
    workers = Attempts(pool=Pool(size=1, wake=lambda: None), turn=running.machine.turns)
    turns, items = running.machine.turns, running.machine.items
    turns.begin()
    for number in range(5):
        put = Put("t", {"a": str(number), "b": "b"}, {"text": "x" * 300_000})
        workers.do(number, partial(items.write, put))
    turns.end()
    assert [number for number, _ in workers.ended(None)] == [0, 1, 2, 3]
    turns.begin()
    assert workers.ended(None) == []
    turns.end()
    assert [number for number, _ in workers.ended(None)] == [4]


def test_one_message_that_cannot_be_settled_keeps_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are settled together; what that undoes is done again for each alone."""
    running, left = Running(), list[int]()
    over, refused = Lives.over, set[str]()

    def fails_for_the_first(self: Lives, received: ReceivedMessage, *, is_done: bool) -> None:
        refused.update(set() if refused else {received.message_id})
        if received.message_id in refused and len(left) < 20:
            left.append(len(queue.out))
            raise ValueError("a defect")
        over(self, received, is_done=is_done)

    queue = running.machine.queue("executor-http-request")
    monkeypatch.setattr(Lives, "over", fails_for_the_first)
    for _ in range(10):
        running.schedule(1)
    running.run(2 * SECOND)
    assert left[0] == 10
    assert left[-1] == 1, "the others have been settled"
    assert len(queue.messages) == len(queue.out) == 0


def test_a_thread_that_cannot_be_started_is_counted_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are too many on the machine just now. Later there is room for all of them again."""
    ended = SimpleQueue[None]()
    pool = Pool(size=1, wake=lambda: ended.put(None))
    workers = Attempts(pool=pool, turn=Running().machine.turns)

    def refused(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refused)
    with pytest.raises(RuntimeError):
        workers.start(1, lambda: "never")
    assert pool.under_way == 0
    monkeypatch.undo()
    workers.start(2, lambda: "done")
    ended.get(timeout=10)
    assert workers.ended(None) == [(2, "done")]
    pool.close()


def test_a_subscriber_for_which_there_is_no_thread_hears_it_later() -> None:
    raised = [RuntimeError("can't start new thread")]

    class Refuses(Unhurried):
        def start(self, number: int, do: Callable[[], object]) -> None:
            if raised:
                raise raised.pop()
            super().start(number, do)

    def read(batch: Sequence[ReceivedMessage]) -> list[str]:
        seen.extend(one.body for one in batch)
        return []

    running = Running()
    seen: list[str] = []
    reads = ReadsQueue(
        turn=running.machine.turns,
        workers=Refuses(running.machine, running.started),
        clock=running.clock,
        name="subscriber-x",
        queue=running.machine.queue("subscriber-x"),
        use=read,
        objects=running.objects,
        observer=running.observer,
    )
    running.machine.beside.append(reads)
    reads.queue.send([Outgoing(body="an event")])
    running.run(10 * SECOND)
    assert seen == ["an event"]
    assert not reads.queue.messages


def test_the_thread_of_turns_takes_what_ends_something_first(tmp_path: Path) -> None:
    """However many others wait in front of it."""
    leader = led(tmp_path)
    for number in range(3 * CALLS):
        leader.inbox.put(TurnJob(do=lambda: None, deliver=lambda _: None, function=str(number)))
    leader.ending.put(TurnJob(do=lambda: None, deliver=lambda _: None, function="api-schedule-delete"))
    taken = leader.collect(0)
    assert [one.function for one in taken] == ["api-schedule-delete", *map(str, range(CALLS))]
    leader.machine.waiting_calls = [*taken[:CALLS]]
    assert leader.collect(10) == []
    leader.machine.database.close()


def test_what_a_turn_has_not_come_to_which_raises_is_done_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read may fail for want of memory. Whose call was done already hears that nobody knows; the others, nothing."""
    running = Running()
    first = running.schedule(MINUTE // SECOND)
    running.clock.at += MINUTE
    answered: list[int] = []
    monkeypatch.setattr(SqliteStore, "first", raises)
    with pytest.raises(Unavailable):
        running.machine.turn([asked("DELETE", f"/schedules/{first}", answered), asked("GET", "/schedules", answered)])
    assert answered == [503]
    monkeypatch.undo()
    running.settle()
    assert answered == [503, 200]
    assert running.call("GET", f"/schedules/{first}")[1]["state"] == "executed"


def asked(method: str, path: str, answered: list[int]) -> ApiCall:
    routed = route(method, path)
    request = ApiRequest(
        route=routed.route, path=path, parameters=routed.parameters, headers={}, body=b"", caller=Caller(address=HERE)
    )
    return ApiCall(function=routed.function, request=request, answer=lambda one: answered.append(one.status))


def raises(*_: object) -> None:
    raise Unavailable("read: out of memory")


def led(folder: Path, **more: Any) -> Leader:
    database = Database(path=str(folder / "delayer.db"), layout=LAYOUT)
    keys = KeyRing(keys=(b"k" * 32,))
    return Leader(database=database, observer=Observer(), environment=SETTINGS, keys=keys, **more)


def test_the_thread_of_turns_outlives_a_read_that_fails_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[bool] = []
    leader = led(tmp_path, failed=lambda: failed.append(True))
    left = [2]

    def next_at(fire: Fire) -> None:
        if left[0]:
            left[0] -= 1
            raises()

    monkeypatch.setattr(Fire, "next_at", next_at)
    monkeypatch.setattr("delayer.serve.turns.lead.AFTER_A_FAILURE", 0)
    leader.start()
    assert leader.in_turn(lambda: "done") == "done"
    leader.stop()
    assert (left, failed, leader.error) == ([0], [], None)


def test_the_process_ends_when_turns_fail_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[bool] = []
    leader = led(tmp_path, failed=lambda: failed.append(True))
    monkeypatch.setattr(Fire, "next_at", raises)
    monkeypatch.setattr("delayer.serve.turns.lead.AFTER_A_FAILURE", 0)
    monkeypatch.setattr("delayer.serve.turns.lead.FAILS_AT_MOST", 0.05)
    leader.start()
    leader.thread.join(timeout=10)
    assert failed == [True]
    assert isinstance(leader.error, Unavailable)
    leader.stop()


def test_whoever_waits_when_the_engine_has_ended_is_answered(tmp_path: Path) -> None:
    leader, answered = led(tmp_path), list[int]()
    leader.start()
    leader.stop()
    leader.ending.put(asked("DELETE", "/schedules/x", answered))
    leader.inbox.put(asked("GET", "/schedules", answered))
    leader.refuse_rest()  # as `stop` does: these came after its last look
    assert answered == [503, 503]
