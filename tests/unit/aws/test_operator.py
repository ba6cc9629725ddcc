"""The operator's commands, as payloads of an invocation."""

from typing import Any

import pytest
from attrs import evolve

from delayer.aws.operator import USAGE, answered
from delayer.fakes import MemorySetAsideStore
from delayer.ports import Unavailable
from tests.samples import an_id
from tests.unit.use_cases.test_operate import set_aside


def test_the_commands_in_turn() -> None:
    _, operate, key = set_aside()
    listed = answered(operate, {"command": "list"})
    assert (listed["ok"], [line["key"] for line in listed["result"]["kept"]]) == (True, [key])
    assert answered(operate, {"command": "list", "prefix": "failed/"}) == {"ok": True, "result": {"kept": []}}
    assert answered(operate, {"command": "list", "after": key}) == {"ok": True, "result": {"kept": []}}
    assert "body" in answered(operate, {"command": "show", "key": key})["result"]
    put_back = answered(operate, {"command": "put-back", "key": key})
    assert put_back["result"]["schedules"][0]["scheduleId"] == an_id()
    assert answered(operate, {"command": "list"}) == {"ok": True, "result": {"kept": []}}


def test_throw_away() -> None:
    _, operate, key = set_aside()
    assert answered(operate, {"command": "throw-away", "key": key})["ok"]
    again = answered(operate, {"command": "throw-away", "key": key})
    assert not again["ok"]
    assert "list what is" in again["error"]


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        "list",
        {},
        {"command": "lsit"},
        {"command": ["list"]},
        {"command": "show"},
        {"command": "show", "key": 7},
        {"command": "put-back", "key": None},
    ],
    ids=str,
)
def test_a_wrong_command_is_told_how(event: Any) -> None:
    _, operate, _ = set_aside()
    assert answered(operate, event) == {"ok": False, "error": USAGE}


def test_an_outage_is_told() -> None:
    class Down(MemorySetAsideStore):
        """S3 does not answer."""

        def list(self, prefix: str, after: str, at_most: int) -> list[str]:
            raise Unavailable("list: timeout")

    _, operate, _ = set_aside()
    assert answered(evolve(operate, store=Down()), {"command": "list"}) == {"ok": False, "error": "list: timeout"}
