"""Each script makes the calls that its name says, for the schedules that the scripts before it have created."""

import itertools
import json

from bench.load import scripts
from bench.load.calls import Call, NewSchedule, Response
from bench.load.clients import Script
from bench.load.scripts import SCRIPTS, CreatedSchedules


def no_schedules() -> CreatedSchedules:
    return CreatedSchedules(new=NewSchedule(due=1_000, target="http://127.0.0.1:9"))


class Api:
    """Responds as the API does: with the expected status and a new id."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def respond(self, call: Call) -> Response:
        body = json.dumps({"scheduleId": f"id{next(self.numbers)}"})
        return Response(status=call.expected, body=body.encode())


def follow(script: Script, api: Api, count: int, refused: int = 0) -> list[Call]:
    """The first calls of a script. The first `refused` of them are refused."""
    made: list[Call] = []
    call = next(script, None)
    while call is not None and len(made) < count:
        made.append(call)
        try:
            call = script.send(Response(status=503, body=b"{}") if len(made) <= refused else api.respond(call))
        except StopIteration:
            break
    return made


def test_every_script_makes_calls_when_they_run_in_order() -> None:
    schedules, server = no_schedules(), Api()
    made = {name: follow(script(schedules), server, 3) for name, script in SCRIPTS.items()}
    assert [len(calls) for calls in made.values()] == [3] * len(SCRIPTS)
    for name, calls in made.items():
        assert {call.method for call in calls} == {name.partition(" ")[0]}


def test_posts_leave_their_ids_and_each_key_is_new() -> None:
    schedules, server = no_schedules(), Api()
    follow(scripts.post(schedules), server, 3)
    keyed = follow(scripts.post_with_key(schedules), server, 3)
    assert list(schedules.ids) == ["id1", "id2", "id3", "id4", "id5", "id6"]
    assert len({call.headers["Idempotency-Key"] for call in keyed}) == 3


def test_a_refused_post_leaves_no_id() -> None:
    schedules = no_schedules()
    follow(scripts.post(schedules), Api(), 3, refused=3)
    assert not schedules.ids


def test_a_lookup_removes_nothing() -> None:
    schedules = no_schedules()
    schedules.ids.extend(["a", "b"])
    assert [call.path for call in follow(scripts.get(schedules), Api(), 3)] == [
        "/schedules/a",
        "/schedules/b",
        "/schedules/a",
    ]
    assert list(schedules.ids) == ["a", "b"]


def test_after_a_change_the_new_id_is_changed() -> None:
    schedules = no_schedules()
    schedules.ids.extend(["a", "b"])
    made = follow(scripts.patch(schedules), Api(), 3)
    assert [call.path for call in made] == ["/schedules/a", "/schedules/id1", "/schedules/id2"]
    assert len({call.body for call in made}) == 3


def test_after_a_refused_change_another_schedule_is_changed() -> None:
    schedules = no_schedules()
    schedules.ids.extend(["a", "b"])
    assert [call.path for call in follow(scripts.patch(schedules), Api(), 3, refused=1)] == [
        "/schedules/a",
        "/schedules/b",
        "/schedules/id1",
    ]


def test_each_schedule_is_cancelled_once_and_then_the_script_ends() -> None:
    schedules = no_schedules()
    schedules.ids.extend(["a", "b"])
    assert [call.path for call in follow(scripts.delete(schedules), Api(), 9)] == ["/schedules/a", "/schedules/b"]


def test_what_was_created_by_name_is_replaced() -> None:
    schedules, server = no_schedules(), Api()
    created = follow(scripts.put_new(schedules), server, 3, refused=1)
    assert len({call.path for call in created}) == 3
    replaced = follow(scripts.put_again(schedules), server, 2)
    assert [call.path for call in replaced] == [created[1].path] * 2
    assert ({call.expected for call in created}, {call.expected for call in replaced}) == ({201}, {200})


def test_the_page_says_how_long_it_is() -> None:
    schedules = no_schedules()
    (call,) = follow(scripts.list_group(schedules), Api(), 1)
    assert call.path == f"/schedules?group={schedules.group}&limit=50"
