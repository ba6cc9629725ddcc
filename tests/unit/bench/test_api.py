"""Each row calls what it says, with what the rows before it have created."""

import itertools
import json

import pytest

from bench import api
from bench.api import AHEAD, GROUP, PAGE, ROWS, ApiCall, Shelf
from bench.calls import Answer, Call, Wanted
from bench.clients import Script
from tests.unit.bench.rows import FAILED, FAILED_WARMING_UP, ROW, WITHOUT_CALLS

HOUR = 3600 * 1000


def shelf() -> Shelf:
    return Shelf(wanted=Wanted(AHEAD, "http://127.0.0.1:9"))


class Api:
    """Answers as the API does: with the expected status and a new id."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def answer(self, call: Call) -> Answer:
        return Answer(call.expected, json.dumps({"scheduleId": f"id{next(self.numbers)}"}).encode())


def follow(script: Script, api: Api, count: int, refused: int = 0) -> list[Call]:
    """The first calls of a script, of which so many at the beginning are refused."""
    made: list[Call] = []
    call = next(script, None)
    while call is not None and len(made) < count:
        made.append(call)
        try:
            call = script.send(Answer(503, b"{}") if len(made) <= refused else api.answer(call))
        except StopIteration:
            break
    return made


def test_nothing_fires_meanwhile() -> None:
    assert AHEAD >= 2 * HOUR


def test_a_listed_group_is_larger_than_its_page() -> None:
    assert GROUP > PAGE == 50


def test_every_row_has_calls_when_all_follow_one_another() -> None:
    one, server = shelf(), Api()
    made = {name: follow(script(one), server, 3) for name, script in ROWS.items()}
    assert [len(calls) for calls in made.values()] == [3] * len(ROWS)
    for name, calls in made.items():
        assert {call.method for call in calls} == {name.partition(" ")[0]}


def test_posts_leave_their_ids_and_each_key_is_new() -> None:
    one, server = shelf(), Api()
    follow(api.post(one), server, 3)
    keyed = follow(api.post_with_key(one), server, 3)
    assert list(one.ids) == ["id1", "id2", "id3", "id4", "id5", "id6"]
    assert len({call.headers["Idempotency-Key"] for call in keyed}) == 3


def test_a_refused_post_leaves_no_id() -> None:
    one = shelf()
    follow(api.post(one), Api(), 3, refused=3)
    assert not one.ids


def test_looking_up_takes_nothing_away() -> None:
    one = shelf()
    one.ids.extend(["a", "b"])
    assert [call.path for call in follow(api.get(one), Api(), 3)] == ["/schedules/a", "/schedules/b", "/schedules/a"]
    assert list(one.ids) == ["a", "b"]


def test_a_change_is_followed_to_its_new_id() -> None:
    one = shelf()
    one.ids.extend(["a", "b"])
    made = follow(api.patch(one), Api(), 3)
    assert [call.path for call in made] == ["/schedules/a", "/schedules/id1", "/schedules/id2"]
    assert len({call.body for call in made}) == 3


def test_after_a_refused_change_another_schedule_is_changed() -> None:
    one = shelf()
    one.ids.extend(["a", "b"])
    assert [call.path for call in follow(api.patch(one), Api(), 3, refused=1)] == [
        "/schedules/a",
        "/schedules/b",
        "/schedules/id1",
    ]


def test_each_is_cancelled_once_and_then_it_ends() -> None:
    one = shelf()
    one.ids.extend(["a", "b"])
    assert [call.path for call in follow(api.delete(one), Api(), 9)] == ["/schedules/a", "/schedules/b"]


def test_what_was_created_by_name_is_replaced() -> None:
    one, server = shelf(), Api()
    created = follow(api.put_new(one), server, 3, refused=1)
    assert len({call.path for call in created}) == 3
    replaced = follow(api.put_again(one), server, 2)
    assert [call.path for call in replaced] == [created[1].path] * 2
    assert ({call.expected for call in created}, {call.expected for call in replaced}) == ({201}, {200})


def test_the_page_says_how_long_it_is() -> None:
    one = shelf()
    (call,) = follow(api.page(one), Api(), 1)
    assert call.path == f"/schedules?group={one.group}&limit=50"


@pytest.mark.parametrize(
    ("row", "failures"),
    [
        (ROW, []),
        (FAILED, ["GET /schedules/{id}: 2 × 503: busy"]),
        (FAILED_WARMING_UP, ["GET /schedules/{id}, warming up: 1 × 503: busy"]),
        (WITHOUT_CALLS, ["GET /schedules/{id}: no call was made, as an earlier row left nothing to call it with"]),
    ],
)
def test_what_failed_is_told(row: ApiCall, failures: list[str]) -> None:
    assert row.failures() == failures
    assert row.is_correct == (not failures)
