"""operator-id-key makes the first signing key, and rotates it by command."""

import json
from typing import Any

import pytest

from delayer.engines.ports import Unavailable
from delayer.schedule.instants import DAY, HOUR
from delayer.signing.id_keys import KeepIdKeys
from delayer.signing.repository import StoredSigningRows
from delayer.signing.rules import CURRENT_AFTER
from delayer.wiring.build import build
from tests.fakes.faults import Crash, Fault, FaultPlan
from tests.tables import on_sqlite
from tests.world import SIGNING_KEY, START, World


def command(world: World, name: str, **more: Any) -> Any:
    return build(KeepIdKeys, world.ports("operator-id-key"))({"command": name, **more})


def test_a_new_stack_gets_one_and_keeps_it() -> None:
    world = World()
    world.signing_rows = on_sqlite(StoredSigningRows)
    command(world, "ensure")
    keys = world.signing_rows.signing_keys()
    world.clock.move(DAY)
    command(world, "ensure")
    assert world.signing_rows.signing_keys() == keys
    assert len(keys.keys[0].secret) == 32


def test_a_rotation_by_command() -> None:
    world = World()
    world.clock.move(HOUR)
    assert command(world, "rotate-signing-key") == {
        "ok": True,
        "result": {
            "signingKeys": [
                {
                    "version": 1,
                    "createdAt": "1970-01-01T00:00:00.000Z",
                    "currentFrom": "1970-01-01T00:00:00.000Z",
                    "signsUntil": "2026-11-28T10:10:00.000Z",
                },
                {
                    "version": 2,
                    "createdAt": "2026-11-21T10:00:00.000Z",
                    "currentFrom": "2026-11-21T10:10:00.000Z",
                    "signsUntil": None,
                },
            ]
        },
    }
    assert "made just now" in command(world, "rotate-signing-key")["error"]
    assert world.control.id_keys().newest == 1, "the key behind the ids is another one"
    command(world, "rotate")
    assert world.signing_rows.signing_keys().newest == 2


def test_no_answer_and_no_log_holds_a_key() -> None:
    world = World()
    texts = [json.dumps(command(world, name)) for name in ("ensure", "rotate-signing-key", "show")]
    text = " ".join([*texts, repr(world.observer.lines)])
    assert "signingKeys" in text
    assert "secret" not in text
    for key in world.signing_rows.signing_keys().keys:
        assert key.secret.hex() not in text
    assert world.signing_rows.signing_keys().keys[0].secret == SIGNING_KEY


@pytest.mark.parametrize("seconds", ["3600", 3599, 30 * 86_400 + 1, True, 1e4, [], 10**30])
def test_an_overlap_out_of_bounds_is_refused(seconds: Any) -> None:
    world = World()
    assert "from 3600 to 2592000" in command(world, "rotate-signing-key", overlapSeconds=seconds)["error"]
    assert world.signing_rows.signing_keys().newest == 1


@pytest.mark.parametrize("seconds", [3600, 30 * 86_400])
def test_the_operator_chooses_the_overlap(seconds: int) -> None:
    """A short one if somebody may have read the key: it ends an earlier, longer one, too."""
    world = World()
    command(world, "rotate-signing-key")
    world.clock.move(CURRENT_AFTER)
    assert command(world, "rotate-signing-key", overlapSeconds=seconds)["ok"]
    first, second, _ = world.signing_rows.signing_keys().keys
    end = START + 2 * CURRENT_AFTER + seconds * 1000
    assert second.signs_until == end
    assert first.signs_until == min(START + CURRENT_AFTER + 7 * DAY, end)


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("at", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["ensure", "rotate-signing-key"])
def test_every_fault_then_again(fault: Fault, at: int, name: str) -> None:
    """One key more, whatever was lost."""
    world = World(spoiled="operator-id-key", plan=FaultPlan(fault, at))
    if name == "ensure":
        world.signing_rows = on_sqlite(StoredSigningRows)
    try:
        answer = command(world, name)
    except (Unavailable, Crash):
        answer = {"ok": False}
    world.spoiled = ""
    if not answer["ok"]:
        command(world, name)
    assert world.signing_rows.signing_keys().newest == (1 if name == "ensure" else 2)
