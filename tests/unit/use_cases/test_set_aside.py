"""Setting aside: the body first, then the end in the ledger."""

import pytest

from delayer.core.lifecycle import ENDS, State
from delayer.core.set_aside import decode
from delayer.use_cases.set_aside import Copy, SetAside
from tests.samples import NOW, OWNER, a_claim, an_id
from tests.world import World

COPY = Copy(body="the whole body", reason="why", schedule_id=an_id(), owner=OWNER, nonce="n1")


def a_world() -> tuple[World, SetAside]:
    world = World()
    return world, world._set_aside("delayer-relay")


def test_the_body_and_the_end() -> None:
    world, set_aside = a_world()
    set_aside.keep(COPY)
    [content] = world.store.objects.values()
    kept = decode(content)
    assert (kept.body, kept.reason, kept.source, kept.at) == ("the whole body", "why", "delayer-relay", NOW)
    row = world.ledger.read(an_id())
    assert row
    assert (row.state, row.detail) == (State.SET_ASIDE, "why")
    assert world.observer.counts["SetAside"] == 1
    assert world.observer.warnings == ["set aside"]


def test_twice_is_once() -> None:
    world, set_aside = a_world()
    set_aside.keep(COPY)
    set_aside.keep(COPY)
    assert len(world.store.objects) == 1
    row = world.ledger.read(an_id())
    assert row
    assert row.revision == 1


def test_its_own_claim_ends() -> None:
    world, set_aside = a_world()
    world.ledger.put_if_absent(a_claim(nonce="n1"))
    set_aside.keep(COPY)
    row = world.ledger.read(an_id())
    assert row
    assert (row.state, row.revision, row.nonce) == (State.SET_ASIDE, 2, "n1")


@pytest.mark.parametrize("state", sorted(ENDS - {State.SET_ASIDE}))
def test_what_ended_otherwise_stays_ended(state: State) -> None:
    world, set_aside = a_world()
    world.ledger.put_if_absent(a_claim(state=state))
    set_aside.keep(COPY)
    assert world.store.objects == {}
    assert world.ledger.read(an_id()) == a_claim(state=state)
    assert world.observer.counts["SetAside"] == 0, "no alarm for a needless copy"


def test_another_copy_that_lives_makes_this_one_needless() -> None:
    world, set_aside = a_world()
    world.ledger.put_if_absent(a_claim(nonce="n2"))
    set_aside.keep(COPY)
    assert world.store.objects == {}
    assert world.ledger.read(an_id()) == a_claim(nonce="n2")


@pytest.mark.parametrize("schedule_id", ["", "no id", "../" * 300, "\ud800"])
def test_a_body_of_an_unknown_schedule_is_kept_without_a_row(schedule_id: str) -> None:
    """What a body gives for an id, and is none, names no row and no place in the store."""
    world, set_aside = a_world()
    set_aside.keep(Copy(body="the whole body", reason="why", schedule_id=schedule_id))
    [key] = world.store.objects
    assert key.startswith("set-aside/unreadable/")
    assert world.ledger.rows == {}
