"""What may be on a disk after a power cut, on recordings that are small enough to be counted by hand."""

import pytest

from tests.crashes.images import Case, How, cases, chosen, points
from tests.crashes.recording import (
    Created,
    Deleted,
    Event,
    FolderSynced,
    Found,
    Marked,
    Recording,
    Synced,
    Truncated,
    Written,
)

SEEDS = 40


def images(*events: Event, how: How | None = None) -> list[dict[str, bytes]]:
    """Those after the last operation."""
    recording = Recording(events)
    last = len(recording.operations)
    wanted = [Case(last, one, seed) for one in How for seed in range(SEEDS) if how in (None, one)]
    return [point.files for point in points(recording, wanted)]


def contents(*events: Event, how: How | None = None) -> set[bytes]:
    return {image["f"] for image in images(Found("f", b""), *events, how=how)}


WRITES = Written("f", 0, b"a"), Written("f", 1, b"b"), Written("f", 2, b"c")


def test_what_was_synced_is_there() -> None:
    assert images(Found("f", b"old"), Written("f", 3, b"!"), Synced("f", 2)) == [{"f": b"old!"}]


def test_a_sync_of_one_file_is_none_of_another() -> None:
    found = images(Found("f", b"old"), Found("g", b""), Written("f", 3, b"!"), Synced("g", 2), how=How.NOTHING)
    assert found == [{"f": b"old", "g": b""}]


@pytest.mark.parametrize(
    ("how", "expected"),
    [(How.NOTHING, {b""}), (How.ALL, {b"abc"}), (How.PREFIX, {b"", b"a", b"ab", b"abc"})],
)
def test_of_what_was_not_synced_there_is_nothing_all_or_the_beginning(how: How, expected: set[bytes]) -> None:
    assert contents(*WRITES, how=how) == expected


def test_any_of_its_sectors_may_be_there() -> None:
    """One that is missing before one that is there is a hole, or holds anything."""
    found = contents(*WRITES, how=How.SECTORS)
    assert {b"\0b", b"a\0c", b"\0\0c", b"abc"} <= found
    assert any(one[:1] not in (b"", b"\0", b"a") for one in found)


def test_a_large_write_is_torn_between_its_sectors() -> None:
    """Those of the disk, wherever the write begins. The bytes beside it stay what they are."""
    write = Written("f", 500, b"n" * 600)
    old = b"o" * 2_000
    begins = {one.find(b"n") for one in (image["f"] for image in images(Found("f", old), write, how=How.SECTORS))}
    assert {-1, 500, 512, 1_024} <= begins
    assert all(
        image["f"][:500] == old[:500] and image["f"][1_100:] == old[1_100:] for image in images(Found("f", old), write)
    )
    assert len({image["f"][500:1_100] for image in images(Found("f", old), write, how=How.PREFIX)}) == 4


def test_a_cut_may_be_lost_as_a_write_may() -> None:
    assert contents(Written("f", 0, b"abc"), Synced("f", 2), Truncated("f", 1)) == {b"abc", b"a"}
    assert contents(Truncated("f", 2), Synced("f", 2)) == {b"\0\0"}


def test_a_new_file_may_be_missing_until_its_folder_is_synced() -> None:
    created = Created("f"), Written("f", 0, b"a"), Synced("f", 2)
    assert sorted(images(*created), key=len) == [{}, {"f": b"a"}]
    assert images(*created, FolderSynced("f")) == [{"f": b"a"}]


def test_a_deleted_file_may_be_back_until_its_folder_is_synced() -> None:
    deleted = Found("f", b"a"), Deleted("f")
    assert sorted(images(*deleted), key=len) == [{}, {"f": b"a"}]
    assert images(*deleted, FolderSynced("f")) == [{}]


def test_a_file_that_was_made_anew_is_the_old_one_or_the_new_one() -> None:
    anew = Found("f", b"old"), Deleted("f"), Created("f"), Written("f", 0, b"n"), Synced("f", 2)
    assert {image.get("f") for image in images(*anew)} == {b"old", b"n", None}


def test_marks_count_until_the_next_operation() -> None:
    recording = Recording((Marked(1), *WRITES[:1], Marked(2), Marked(3), *WRITES[1:2], Marked(4)))
    recording = Recording((Found("f", b""), *recording.events))
    wanted = [Case(1, How.ALL), Case(2, How.ALL)]
    assert [(point.last, point.marks) for point in points(recording, wanted)] == [
        (WRITES[0], (1, 2, 3)),
        (WRITES[1], (1, 2, 3, 4)),
    ]


def test_the_same_image_is_tried_once_but_not_after_another_answer() -> None:
    """A synced disk after an answer is to hold more than before it."""
    synced = (Found("f", b""), WRITES[0], Synced("f", 2))
    assert len(list(points(Recording((*synced, Synced("f", 2)))))) == 2  # nothing, and all
    assert len(list(points(Recording((*synced, Marked(1), Synced("f", 2)))))) == 3


def test_all_cases_are_counted_before_they_are_tried() -> None:
    recording = Recording((Found("f", b""), *WRITES, Synced("f", 2)))
    assert len(cases(recording, seeds=2)) == 1 + 3 * (1 + 3 * 2) + 1  # nothing is the same three times
    assert [str(case) for case in cases(recording)][-2:] == ["3-pages-0", "4-all-0"]
    assert [Case.from_text(str(case)) for case in cases(recording)] == cases(recording)


def test_a_choice_has_some_of_each_kind() -> None:
    """A log has a hundred writes for each one of the database."""
    log = [Written("log", number, b"x") for number in range(100)]
    recording = Recording((Found("log", b""), Found("f", b""), *log, WRITES[0], *log))
    some = chosen(recording, 20)
    assert len(some) == len(set(some)) == 20
    assert 101 in {case.number for case in some}
    assert chosen(recording, 20) == some != chosen(recording, 20, seed=1)
    assert chosen(recording, 10**6) == sorted(cases(recording))


def test_the_same_case_is_the_same_image() -> None:
    recording = Recording((Found("f", b""), *WRITES))
    case = Case(3, How.SECTORS, 7)
    [first], [second] = points(recording, [case]), points(recording, [case])
    assert first == second
