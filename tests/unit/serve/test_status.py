"""The status of an engine: what its operators see of it."""

import json
from pathlib import Path

import pytest

from delayer.engines.ports import Outgoing
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import KEY_BYTES, KeyRing
from delayer.http.answers import Response
from delayer.http.received import received
from delayer.http.requests import Caller
from delayer.http.routing import route_of
from delayer.schedule.instants import DAY, format_instant
from delayer.serve.data.space import RESTRICTED
from delayer.serve.lines import LogLines
from delayer.serve.operators.status import EngineStatus
from delayer.serve.turns.lead import Leader
from delayer.serve.turns.machine import LAYOUT, ApiCall

SETTINGS = {"API_AUTHORIZATION": "NONE", "ALLOW_PRIVATE_TARGETS": "true", "PRIVATE_TARGETS": ""}
HOOK = {"type": "http-request", "url": "http://127.0.0.1:9/x"}


@pytest.fixture(params=["file", "memory"])
def leader(request: pytest.FixtureRequest, tmp_path: Path) -> Leader:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "a folder" / "delayer.db")
    (tmp_path / "a folder").mkdir()
    keys = KeyRing(keys=(b"k" * KEY_BYTES,))
    database, lines = Database(path=path, layout=LAYOUT), LogLines(write=lambda _: None)
    return Leader(database=database, observer=lines, environment=SETTINGS, keys=keys)


def status_of(leader: Leader, free: int = RESTRICTED) -> EngineStatus:
    return EngineStatus(machine=leader.machine, lines=leader.observer, under_way=lambda: 2, free=lambda: free, begun=0)


def post(leader: Leader) -> str:
    """One that is due tomorrow; when that is."""
    due = format_instant(leader.clock.now() + DAY)
    body = json.dumps({"pointInTime": due, "action": HOOK}).encode()
    routed = route_of("POST", "/schedules")
    caller = Caller(claims={}, address="127.0.0.1")
    request = received(routed, "/schedules", "", {"content-type": "application/json"}, body=body, caller=caller)
    answered: list[Response] = []
    leader.machine.turn([ApiCall(function=routed.function, request=request, answer=answered.append)], calls_only=True)
    assert [one.status for one in answered] == [201]
    return due


def test_how_many_wait_and_what_is_due_next(leader: Leader) -> None:
    status = status_of(leader)
    before = status()
    assert (before["waiting"], before["late"], "nextDue" in before) == (0, 0, False)
    first = post(leader)
    post(leader)
    after = status()
    assert (after["waiting"], after["late"], after["nextDue"]) == (2, 0, first)
    assert (after["underWay"], after["startedAt"]) == (2, "1970-01-01T00:00:00.000Z")
    assert ("logBytes" in after) == (leader.database.path != ":memory:")
    leader.stop()


def test_what_is_late_is_counted(leader: Leader) -> None:
    post(leader)
    leader.machine.database.write(
        "UPDATE items SET partition = '2020-01-01T00:00#0', sort = '1577836800000#x' WHERE table_name = 'schedules'", ()
    )
    found = status_of(leader)()
    assert (found["late"], found["nextDue"]) == (1, "2020-01-01T00:00:00.000Z")
    leader.stop()


def test_dead_letters_and_queues_are_counted(leader: Leader) -> None:
    for key in ("failed/2026-01-01/a", "failed/2026-01-01/b", "dead-lettered/2026-01-01/c", "failed0"):
        leader.machine.around.objects.put(key, b"{}")
    leader.machine.queue("delayer").send([Outgoing(body="{}", delay_seconds=60)])
    found = status_of(leader)()
    assert found["deadLetters"] == {"failed": 2, "dead-lettered": 1}
    assert found["queues"] == {"delayer": {"ready": 0, "delayed": 1}}
    leader.stop()


def test_lateness_is_in_classes_and_the_disk_is_judged(leader: Leader) -> None:
    for late in (0, 10, 11, 5_000, 60_000):
        leader.observer.measure_lateness(late)
    leader.observer.measure_lateness(7, "UndecidedAge")
    found = status_of(leader, free=RESTRICTED - 1)()
    assert [one["number"] for one in found["lateness"]] == [2, 1, 0, 1, 1]
    assert [one.get("upToMs") for one in found["lateness"]] == [10, 100, 1_000, 10_000, None]
    assert (found["restricted"], found["freeBytes"]) == (True, RESTRICTED - 1)
    assert not status_of(leader)()["restricted"]
    leader.stop()
