"""The operator's commands, as payloads of an invocation."""

from typing import Any

import pytest
from attrs import evolve

from delayer.dead_letters.commands import USAGE, Bulk, respond
from delayer.dead_letters.redrive import Redrive
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.memory import MemoryObjects
from delayer.engines.ports import Unavailable
from delayer.engines.process import InOrder
from tests.samples import an_id
from tests.unit.dead_letters.test_redrive import dead_letters


def bulk_of(redrive: Redrive) -> Bulk:
    return Bulk(clock=redrive.clock, parallel=InOrder(), redrive=redrive)


def test_the_commands_in_turn() -> None:
    _, redrive, key = dead_letters()
    listed = respond(bulk_of(redrive), {"command": "list"})
    assert (listed["ok"], [line["key"] for line in listed["result"]["deadLetters"]]) == (True, [key])
    assert respond(bulk_of(redrive), {"command": "list", "prefix": "failed/"}) == {
        "ok": True,
        "result": {"deadLetters": []},
    }
    assert respond(bulk_of(redrive), {"command": "list", "after": key}) == {"ok": True, "result": {"deadLetters": []}}
    assert "body" in respond(bulk_of(redrive), {"command": "show", "key": key})["result"]
    answer = respond(bulk_of(redrive), {"command": "redrive", "key": key})
    assert answer["result"]["schedules"][0]["scheduleId"] == an_id()
    assert respond(bulk_of(redrive), {"command": "list"}) == {"ok": True, "result": {"deadLetters": []}}


def test_discard() -> None:
    _, redrive, key = dead_letters()
    assert respond(bulk_of(redrive), {"command": "discard", "key": key})["ok"]
    again = respond(bulk_of(redrive), {"command": "discard", "key": key})
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
        {"command": "redrive", "key": None},
    ],
    ids=str,
)
def test_a_wrong_command_is_answered_with_the_usage(event: Any) -> None:
    _, redrive, _ = dead_letters()
    assert respond(bulk_of(redrive), event) == {"ok": False, "error": USAGE}


def test_an_outage_is_answered() -> None:
    class Down(StoredDeadLetters[MemoryObjects]):
        """S3 does not answer."""

        def list(self, prefix: str, after: str, at_most: int) -> list[str]:
            raise Unavailable("list: timeout")

    _, redrive, _ = dead_letters()
    assert respond(bulk_of(evolve(redrive, dead_letter_store=Down(MemoryObjects()))), {"command": "list"}) == {
        "ok": False,
        "error": "list: timeout",
    }
