"""Blocks: each is written once, and then changed by compare-and-set."""

from typing import Any

import pytest
from attrs import evolve

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Item, Put, entry_key
from delayer.engines.store.store import Store
from delayer.flow.ports import Rows
from delayer.flow.repository import LIST, StoredBlocks, from_item, to_item
from delayer.flow.rules.block import EVERY, Block, BlockKind, Party, crowded, opened, opened_again, probing
from delayer.flow.rules.comeback import coming_back
from delayer.flow.words import limited, suspended
from delayer.schedule.instants import DAY, MINUTE, SECOND
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW, OWNER

ADAPTER = StoredBlocks
PARTY = Party(owner=OWNER, target="http-request target.example")
OPENED = opened(PARTY, NOW, "HTTP 503")
SUSPENDED = suspended(Party(owner=OWNER, target=""), NOW, "it floods", "operator")


@pytest.fixture
def blocks(store: Store) -> StoredBlocks:
    return StoredBlocks(store=store, table=create_table(store, "list", "entry"))


def test_what_is_written_is_read(blocks: StoredBlocks) -> None:
    assert blocks.rows(latest=True).blocks == ()
    assert blocks.change(OPENED)
    assert blocks.change(SUSPENDED)
    assert set(blocks.rows(latest=True).blocks) == {OPENED, SUSPENDED}


def test_of_two_changes_of_a_revision_one_is_made(blocks: StoredBlocks) -> None:
    blocks.change(OPENED)
    assert blocks.change(probing(OPENED, "n1", NOW))
    assert not blocks.change(probing(OPENED, "n2", NOW))
    assert not blocks.change(evolve(OPENED, reason="another")), "there is one already"
    assert blocks.rows(latest=True).blocks == (probing(OPENED, "n1", NOW),)


def test_a_repeat_after_a_lost_answer_is_the_same_change(blocks: StoredBlocks) -> None:
    assert blocks.change(OPENED)
    assert blocks.change(OPENED)
    assert blocks.change(probing(OPENED, "n1", NOW))
    assert blocks.change(probing(OPENED, "n1", NOW))


def test_nothing_is_changed_that_is_gone(blocks: StoredBlocks) -> None:
    """It was closed meanwhile: a change of the row from before must not bring it back."""
    assert not blocks.change(probing(OPENED, "n1", NOW))
    assert blocks.rows(latest=True).blocks == ()


def test_only_the_revision_that_was_seen_is_removed(blocks: StoredBlocks) -> None:
    blocks.change(OPENED)
    blocks.change(probing(OPENED, "n1", NOW))
    assert not blocks.remove(OPENED)
    assert blocks.remove(probing(OPENED, "n1", NOW))
    assert blocks.remove(probing(OPENED, "n1", NOW)), "again, as after a lost answer"
    assert blocks.rows(latest=True).blocks == ()


def test_a_circuit_that_was_opened_anew_is_another(blocks: StoredBlocks) -> None:
    """Its revisions are the same numbers: who knows the one before neither changes nor removes it."""
    blocks.change(OPENED)
    before = probing(OPENED, "n1", NOW)
    blocks.change(before)
    blocks.remove(before)
    anew = opened(PARTY, NOW + SECOND, "HTTP 503")
    after = probing(anew, "n2", NOW + SECOND)
    blocks.change(anew)
    blocks.change(after)
    assert not blocks.change(opened_again(before, NOW, "HTTP 500"))
    assert not blocks.remove(before)
    assert blocks.rows(latest=True).blocks == (after,)


def test_a_crowd_that_was_over_is_written_anew(blocks: StoredBlocks) -> None:
    """Its row is there still, with the time of the one before."""
    first = crowded(PARTY, NOW, None)
    assert first
    later = crowded(PARTY, NOW + MINUTE, first)
    assert later
    assert blocks.change(first)
    assert not blocks.change(later), "it is not known over which row"
    assert blocks.change(later, first)
    assert blocks.change(later, first), "again, as after a lost answer"
    assert blocks.rows(latest=True).blocks == (later,)


def test_all_pages_are_read(blocks: StoredBlocks) -> None:
    """A page of DynamoDB has one MiB: three rows of 400 kB are more."""
    many = [suspended(Party(owner=f"{at}", target="t"), NOW, "y" * 390_000, "") for at in range(4)]
    for block in many:
        blocks.change(block)
    assert set(blocks.rows(latest=True).blocks) == set(many)


BLOCKS = [
    OPENED,
    probing(OPENED, "n1", NOW),
    opened_again(probing(OPENED, "n1", NOW), NOW, "HTTP 500"),
    coming_back(probing(OPENED, "n1", NOW), NOW),
    SUSPENDED,
    evolve(SUSPENDED, reason=""),
]
BLOCKS += [limited(PARTY, NOW, 100_000, "eve"), limited(PARTY, NOW, 0, "eve", concurrency=5)]


@pytest.mark.parametrize(
    "block",
    BLOCKS,
    ids=["opened", "probing", "opened again", "coming back", "suspended", "no reason", "limited", "at a time"],
)
def test_a_row_is_read_as_it_was_written(block: Block) -> None:
    assert from_item(to_item(block)) == block


def test_what_is_empty_is_left_out_but_for_some_numbers_and_may_be_missing() -> None:
    """So each version writes it, and also those numbers need not be there."""
    block = suspended(Party(owner=OWNER, target=""), NOW, "", "")
    item = to_item(block)
    assert item == {
        **entry_key(LIST, block.key),
        "v": 1,
        "kind": "suspension",
        "owner": OWNER,
        "revision": 1,
        "since": NOW,
        "until": 0,
        "pauses": 0,
        "probeUntil": 0,
    }
    for name in ("until", "pauses", "probeUntil"):
        del item[name]
    assert from_item(item) == block


def test_a_block_without_a_reason_is_kept(blocks: StoredBlocks) -> None:
    block = evolve(SUSPENDED, reason="")
    assert blocks.change(block)
    assert blocks.rows(latest=True) == Rows(blocks=(block,))


def test_a_circuit_expires_and_a_suspension_does_not() -> None:
    assert to_item(OPENED)["expiresAt"] == (OPENED.until + DAY) // SECOND
    assert "expiresAt" not in to_item(SUSPENDED)


MALFORMED = [{"v": 2}, {"kind": "?"}, {"revision": "x"}, {"since": {}}, {"owner": 1}]


@pytest.mark.parametrize("change", MALFORMED)
def test_a_row_that_cannot_be_read_keeps_nobody_else_back(change: dict[str, Any], blocks: StoredBlocks) -> None:
    blocks.change(SUSPENDED)
    put(blocks, {**to_item(OPENED), **change})
    assert blocks.rows(latest=True) == Rows(blocks=(SUSPENDED,), malformed=(OPENED.key,))


@pytest.mark.parametrize("change", [{"v": 2}, {"revision": "x"}, {"since": {}}])
def test_a_suspension_counts_as_long_as_its_party_can_be_read(change: dict[str, Any], blocks: StoredBlocks) -> None:
    put(blocks, {**to_item(SUSPENDED), **change})
    rows = blocks.rows(latest=False)
    assert [(block.kind, block.party) for block in rows.blocks] == [(BlockKind.SUSPENSION, SUSPENDED.party)]
    assert rows.malformed == (SUSPENDED.key,)


def test_a_name_that_is_no_text_is_that_of_all(blocks: StoredBlocks) -> None:
    """Of a suspension: rather too much is held up than what was to be. One of everything is never read from it."""
    both = evolve(SUSPENDED, party=Party(owner=OWNER, target="http-request target"))
    put(blocks, {**to_item(both), "target": 1})
    [block] = blocks.rows(latest=True).blocks
    assert block.party == Party(owner=OWNER, target=EVERY)
    assert blocks.rows(latest=True).malformed == (both.key,)


def test_a_suspension_of_nobody_known_suspends_nobody(blocks: StoredBlocks) -> None:
    put(blocks, {**{name: value for name, value in to_item(SUSPENDED).items() if name != "owner"}, "v": 2})
    assert blocks.rows(latest=True) == Rows(malformed=(SUSPENDED.key,))


@pytest.mark.parametrize("change", MALFORMED)
def test_only_what_cannot_be_read_is_discarded(change: dict[str, Any], blocks: StoredBlocks) -> None:
    blocks.change(SUSPENDED)
    put(blocks, {**to_item(OPENED), **change})
    assert not blocks.discard(SUSPENDED.key)
    assert not blocks.discard("circuit#0")
    assert blocks.discard(OPENED.key)
    assert not blocks.discard(OPENED.key)
    assert blocks.rows(latest=True) == Rows(blocks=(SUSPENDED,))


def put(blocks: StoredBlocks, item: Item) -> None:
    blocks.store.write(Put(blocks.table, entry_key(LIST, item["entry"]), item))


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_aws_fails(error: Exception) -> None:
    blocks = StoredBlocks(store=DynamoStore(Failing(error)), table="t")
    reads = (lambda: blocks.rows(latest=True), lambda: blocks.discard("circuit#0"))
    for call in (*reads, lambda: blocks.change(OPENED), lambda: blocks.remove(OPENED)):
        with pytest.raises(Unavailable):
            call()
