"""The keys behind the ids: one function makes and rotates them; warm functions learn of a new one in time."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, evolve

from delayer.accept.rules.status import NotFound
from delayer.accept.use_cases.cancel import Stop
from delayer.accept.use_cases.issue import IdCheck
from delayer.accept.use_cases.lookup import Lookup
from delayer.actions.rules.registration import Command
from delayer.engines.ports import Unavailable
from delayer.records.repository import StoredControl
from delayer.schedule.instants import DAY, MINUTE
from delayer.schedule.schedule_id import READ_AGAIN, WRITES_AFTER, IdKeys, first_keys, mint
from delayer.signing.id_keys import KeepIdKeys
from delayer.signing.repository import StoredSigningRows
from delayer.wiring.build import build
from tests.fakes.faults import Crash, Fault, FaultPlan
from tests.looking import all_rows, put_row
from tests.samples import ACTION, OWNER, an_id
from tests.tables import on_sqlite
from tests.world import KEY, START, World

BODY = json.dumps({"delaySeconds": 86_400, "action": ACTION}).encode()
DAYS = [0, READ_AGAIN - 1, READ_AGAIN, WRITES_AFTER - 1, WRITES_AFTER, WRITES_AFTER + 1, DAY]


@define
class CountedControl:
    """Counts the reads of the keys; fails them while it is down."""

    control: StoredControl
    reads: int = 0
    down: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.control, name)

    def id_keys(self) -> IdKeys:
        self.reads += 1
        if self.down:
            raise Unavailable("down")
        return self.control.id_keys()


def a_keep(world: World) -> KeepIdKeys:
    return build(KeepIdKeys, world.ports("operator-id-key"))


def a_world() -> tuple[World, CountedControl]:
    """Whose control rows are counted."""
    world = World()
    control = CountedControl(world.control)
    world.control = control  # type: ignore[assignment] # only called
    world.build()
    return world, control


def a_check(world: World) -> IdCheck:
    """An execution environment of a function that checks ids."""
    return build(IdCheck, world.ports("get"))


def posted(world: World) -> str:
    answer: Any = world.accept(BODY, OWNER)
    return str(answer.schedule_id)


def test_the_first_key_is_made_once() -> None:
    world = World()
    world.control, world.signing_rows = on_sqlite(StoredControl), on_sqlite(StoredSigningRows)
    keep = a_keep(world)
    answer = keep({"command": "ensure"})
    assert answer == {
        "ok": True,
        "result": {"keys": [{"version": 1, "createdAt": "2026-11-21T09:00:00.000Z",
                             "makesIdsFrom": "2026-11-21T09:00:00.000Z"}],
                   "signingKeys": [{"version": 1, "createdAt": "2026-11-21T09:00:00.000Z",
                                    "currentFrom": "2026-11-21T09:00:00.000Z", "signsUntil": None}]},
    }  # fmt: skip
    keys = world.control.id_keys()
    world.clock.move(DAY)
    assert keep({"command": "ensure"}) == answer
    assert keep({"command": "show"}) == answer
    assert world.control.id_keys() == keys
    assert len(keys.keys[0].secret) == len(world.signing_rows.signing_keys().keys[0].secret) == 32


def test_no_answer_holds_a_secret() -> None:
    world = World()
    keep = a_keep(world)
    for command in ("ensure", "rotate", "show"):
        text = json.dumps(keep({"command": command}))
        assert KEY.hex() not in text
        assert "secret" not in text


@pytest.mark.parametrize("event", [None, {}, {"command": "delete"}, {"command": 1}, "rotate"])
def test_a_wrong_command_is_answered_with_what_is_right(event: Any) -> None:
    world = World()
    assert "rotate" in a_keep(world)(event)["error"]
    assert world.control.id_keys().newest == 1


def test_without_a_key_no_id_is_issued_and_none_is_genuine() -> None:
    """As soon as there is one, the same environment goes on."""
    world = World()
    world.control = on_sqlite(StoredControl)
    world.build()
    check = a_check(world)
    with pytest.raises(Unavailable, match="no id key yet"):
        world.accept(BODY, OWNER)
    assert not check.is_genuine(an_id(), OWNER)
    assert all_rows(world.table) == {}
    a_keep(world).ensure()
    assert check.is_genuine(posted(world), OWNER)


@pytest.mark.parametrize("after", DAYS)
def test_warm_functions_recognise_each_other_through_a_rotation(after: int) -> None:
    """Whatever they read before it, and whenever they meet the new ids."""
    world, _ = a_world()
    warm = a_check(world)
    old = posted(world)
    assert warm.is_genuine(old, OWNER)
    world.clock.move(READ_AGAIN - 1)
    just_read = a_check(world)
    assert just_read.is_genuine(old, OWNER)
    assert a_keep(world)({"command": "rotate"})["ok"]
    world.clock.move(after)
    new = posted(world)
    assert (new[:2] == "08") == (after >= WRITES_AFTER), "the version in the id names its key"
    for check in (warm, just_read, a_check(world)):
        assert check.is_genuine(new, OWNER)
        assert check.is_genuine(old, OWNER)
        assert not check.is_genuine(new, "another")


def test_all_warm_issuers_use_the_new_key_in_ten_minutes() -> None:
    """Also one that had read the keys just before the rotation."""
    world, _ = a_world()
    posted(world)
    a_keep(world).rotate()
    for _ in range(WRITES_AFTER // MINUTE):
        assert posted(world).startswith("04")
        world.clock.move(MINUTE)
    assert posted(world).startswith("08")


def test_an_old_id_lives_for_ten_years_of_rotations() -> None:
    world, _ = a_world()
    old = posted(world)
    keep = a_keep(world)
    for _ in range(40):
        world.clock.move(91 * DAY)
        assert keep({"command": "rotate"})["ok"]
    assert a_check(world).is_genuine(old, OWNER)


def test_made_up_ids_cost_no_reads() -> None:
    """However many of an unknown version come: one read in four minutes."""
    world, control = a_world()
    check = a_check(world)
    made_up = "0c" + an_id()[2:]
    assert not check.is_genuine(made_up, OWNER)
    assert control.reads == 1
    for _ in range(100):
        assert not check.is_genuine(made_up, OWNER)
        assert not check.is_genuine("no id", OWNER)
        assert not check.is_genuine(an_id(), OWNER), "of a key that is known: not genuine, and nothing is read"
    assert control.reads == 1
    world.clock.move(READ_AGAIN)
    assert not check.is_genuine(made_up, OWNER)
    assert control.reads == 2


def test_a_restore_may_put_another_key_under_the_same_version() -> None:
    """Into a new stack: what is warm there has read its own key. Four minutes later it knows the other one."""
    world, control = a_world()
    warm = a_check(world)
    assert warm.is_genuine(posted(world), OWNER)
    restored = World()
    restored.control = on_sqlite(StoredControl)
    restored.control.write_id_keys(first_keys(bytes(32), START), IdKeys())
    restored.build()
    issued = posted(restored)
    assert control.write_id_keys(restored.control.id_keys(), control.id_keys())
    assert not warm.is_genuine(issued, OWNER)
    world.clock.move(READ_AGAIN)
    assert warm.is_genuine(issued, OWNER)


def test_an_unknown_version_is_no_404_while_the_keys_cannot_be_read() -> None:
    world, control = a_world()
    warm = a_check(world)
    assert warm.is_genuine(posted(world), OWNER)
    a_keep(world).rotate()
    world.clock.move(WRITES_AFTER)
    new = posted(world)
    control.down = True
    with pytest.raises(Unavailable):
        warm.is_genuine(new, OWNER)
    assert posted(world).startswith("08"), "who has a key goes on with it"


def test_a_second_rotation_waits_for_the_first() -> None:
    """So a repeat of the command makes no two."""
    world = World()
    keep = a_keep(world)
    assert keep({"command": "rotate"})["ok"]
    world.clock.move(WRITES_AFTER - 1)
    assert "try again" in keep({"command": "rotate"})["error"]
    assert world.control.id_keys().newest == 2
    world.clock.move(1)
    assert keep({"command": "rotate"})["ok"]


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("first", [True, False])
def test_every_fault_then_again(fault: Fault, at: int, first: bool) -> None:
    """One key more, whatever was lost."""
    world = World(spoiled="operator-id-key", plan=FaultPlan(fault, at))
    if first:
        world.control = on_sqlite(StoredControl)
    use: Callable[[KeepIdKeys], object] = KeepIdKeys.ensure if first else KeepIdKeys.rotate
    try:
        use(a_keep(world))
    except (Unavailable, Crash):
        world.spoiled = ""
        answer = a_keep(world)({"command": "ensure" if first else "rotate"})
        assert answer["ok"] or "made just now" in answer["error"]
    assert world.control.id_keys().newest == (1 if first else 2)


def asked(request: str) -> Command:
    """By CloudFormation, about the custom resource of the keys."""
    known = "" if request == "Create" else "first-keys"
    return Command(request=request, request_id="r-1", stack="arn", resource="FirstKeys", physical_id=known)


def test_a_stack_that_is_created_has_its_first_keys() -> None:
    world = World()
    world.control, world.signing_rows = on_sqlite(StoredControl), on_sqlite(StoredSigningRows)
    keep = a_keep(world)
    assert keep.of_a_stack(asked("Create")) == "first-keys"
    made = world.control.id_keys(), world.signing_rows.signing_keys()
    assert all(one.keys for one in made)
    for later in ("Create", "Update", "Delete"):
        assert keep.of_a_stack(asked(later)) == "first-keys"
        assert (world.control.id_keys(), world.signing_rows.signing_keys()) == made, "ids and signatures stay valid"


def test_without_an_answer_of_aws_the_creation_does_not_succeed() -> None:
    world, control = a_world()
    control.down = True
    with pytest.raises(Unavailable):
        a_keep(world).of_a_stack(asked("Create"))


def test_another_owner_of_the_row_is_not_found() -> None:
    """Even with an id whose code is right: whoever holds a stolen key still meets the row."""
    world = World()
    schedule = world.post(START + DAY)
    assert schedule
    world.cancel(schedule.id, "owner")
    stop = build(Stop, world.ports("stop"))
    lookup = build(Lookup, world.ports("lookup"))
    forged = mint(schedule.address, "thief", point_in_time=START + DAY, key=KEY, randomness=bytes(8))
    put_row(world.ledger, evolve(all_rows(world.ledger)[schedule.id], schedule_id=forged))
    assert world.cancel(forged, "thief") == NotFound()
    assert stop(forged, "thief") == NotFound()
    assert world.replace.by_id(forged, "thief", point_in_time=START, payload=None) == NotFound()
    assert lookup.by_id(forged, "thief") == NotFound()
