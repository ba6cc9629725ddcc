"""Jobs: written once, and then changed by compare-and-set."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put
from delayer.engines.store.store import Store
from delayer.jobs.ports import Jobs
from delayer.jobs.repository import LIFETIME, MAX_ID, StoredJobs, from_item, job_put, latest_put, to_item
from delayer.jobs.rules import JobRow
from delayer.schedule.instants import SECOND
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.contract.every_row import every_row
from tests.samples import NOW, OWNER, an_id

JOB = JobRow(owner=OWNER, job_id="job 1", group="g", created_at=NOW)
ADAPTER = StoredJobs


def repository(store: Store) -> StoredJobs:
    return StoredJobs(store=store, table=create_table(store, "list", "entry"))


@pytest.fixture
def jobs(store: Store) -> Jobs:
    return repository(store)


def gone_on(row: JobRow, cancelled: int = 3) -> JobRow:
    """After a page of members."""
    return evolve(row, revision=row.revision + 1, after=an_id(), cancelled=row.cancelled + cancelled)


def finished(row: JobRow) -> JobRow:
    return evolve(row, revision=row.revision + 1, after="", handed_over=2, ended=1, finished_at=NOW + SECOND)


def test_there_is_none_at_first(jobs: Jobs) -> None:
    assert jobs.read(OWNER, JOB.job_id) is None


@pytest.mark.parametrize("row", [JOB, gone_on(JOB), finished(gone_on(JOB))], ids=["new", "under way", "finished"])
def test_what_is_put_is_read(jobs: Jobs, row: JobRow) -> None:
    jobs.start(row, "")
    assert jobs.read(OWNER, row.job_id) == row


def test_a_start_repeated_is_no_change(jobs: Jobs) -> None:
    assert jobs.start(JOB, "")
    assert jobs.start(JOB, "")
    assert jobs.read(OWNER, JOB.job_id) == JOB


def test_a_start_repeated_late_does_not_begin_the_job_anew(jobs: Jobs) -> None:
    """A request that timed out may arrive long after another one did."""
    jobs.start(JOB, "")
    assert jobs.swap(JOB, gone_on(JOB))
    assert jobs.start(JOB, "")
    assert jobs.read(OWNER, JOB.job_id) == gone_on(JOB)


def test_of_two_starts_of_a_group_one_wins(jobs: Jobs) -> None:
    """Two calls found no job, or the same one that is done."""
    second, third = evolve(JOB, job_id="job 2"), evolve(JOB, job_id="job 3")
    assert jobs.latest(OWNER, "g") == ""
    assert jobs.start(JOB, "")
    assert jobs.start(second, "") is False
    assert jobs.start(second, JOB.job_id)
    assert jobs.start(third, JOB.job_id) is False
    assert jobs.latest(OWNER, "g") == "job 2"
    assert jobs.read(OWNER, "job 3") is None
    assert jobs.read(OWNER, "job 1") == JOB, "it can still be looked up"


def test_each_group_of_each_owner_has_its_latest(jobs: Jobs) -> None:
    assert jobs.start(JOB, "")
    assert jobs.start(evolve(JOB, job_id="job 2", group="h"), "")
    assert jobs.start(evolve(JOB, job_id="job 3", owner="somebody else"), "")
    assert [jobs.latest(*of) for of in ((OWNER, "g"), (OWNER, "h"), ("somebody else", "g"))] == [
        "job 1",
        "job 2",
        "job 3",
    ]


def test_a_job_belongs_to_its_owner(jobs: Jobs) -> None:
    jobs.start(JOB, "")
    jobs.start(evolve(JOB, job_id="job 2", group="another"), "")
    assert jobs.read("somebody else", JOB.job_id) is None
    assert jobs.read(OWNER, "job 3") is None
    assert jobs.read(OWNER, JOB.job_id) == JOB


def test_a_job_is_found_by_the_longest_id_that_there_is(jobs: Jobs) -> None:
    """And one that is longer is of no job, and makes no key that DynamoDB would refuse."""
    row = evolve(JOB, job_id="j" * MAX_ID)
    jobs.start(row, "")
    assert jobs.read(OWNER, row.job_id) == row
    assert jobs.read(OWNER, "j" * 2_000) is None


def test_an_id_that_a_client_made_up_is_of_no_job(jobs: Jobs) -> None:
    """An owner may be called what another and an id make together."""
    jobs.start(evolve(JOB, owner=f"{OWNER}#a", job_id="b"), "")
    assert jobs.read(OWNER, "a#b") is None


def test_a_swap_of_the_current_job(jobs: Jobs) -> None:
    jobs.start(JOB, "")
    assert jobs.swap(JOB, gone_on(JOB))
    assert jobs.swap(gone_on(JOB), finished(gone_on(JOB)))
    assert jobs.read(OWNER, JOB.job_id) == finished(gone_on(JOB))


def test_of_two_swaps_one_wins(jobs: Jobs) -> None:
    """Two deliveries of one message counted the same page."""
    jobs.start(JOB, "")
    assert jobs.swap(JOB, gone_on(JOB, 3))
    assert jobs.swap(JOB, gone_on(JOB, 2)) is False
    assert jobs.read(OWNER, JOB.job_id) == gone_on(JOB, 3)


def test_a_swap_repeated_is_no_conflict(jobs: Jobs) -> None:
    """The SDK repeats what timed out, though it may have taken place."""
    jobs.start(JOB, "")
    assert jobs.swap(JOB, gone_on(JOB))
    assert jobs.swap(JOB, gone_on(JOB))
    assert jobs.read(OWNER, JOB.job_id) == gone_on(JOB)


def test_a_swap_repeated_after_another_is_a_conflict(jobs: Jobs) -> None:
    jobs.start(JOB, "")
    jobs.swap(JOB, gone_on(JOB))
    jobs.swap(gone_on(JOB), finished(gone_on(JOB)))
    assert jobs.swap(JOB, gone_on(JOB)) is False
    assert jobs.read(OWNER, JOB.job_id) == finished(gone_on(JOB))


def test_a_swap_of_nothing_writes_nothing(jobs: Jobs) -> None:
    """It has expired."""
    assert jobs.swap(JOB, gone_on(JOB)) is False
    assert jobs.read(OWNER, JOB.job_id) is None


# ------------------------------------------------------------ the adapter alone

texts = st.text(st.characters(codec="utf-8"))
numbers = st.integers(0, 10**6)


@given(
    st.builds(
        JobRow,
        owner=texts,
        job_id=texts,
        group=texts,
        created_at=st.integers(1, 2**48),
        revision=st.integers(1, 10**6),
        calls=st.integers(1, 10**6),
        until=st.integers(1, 2**48),
        covers=st.integers(1, 10**6),
        bound=st.integers(1, 2**48),
        after=texts,
        cancelled=numbers,
        handed_over=numbers,
        ended=numbers,
        finished_at=st.integers(0, 2**48),
        by=texts,
    )
)
def test_a_row_is_read_as_it_was_written(row: JobRow) -> None:
    assert from_item(row.owner, row.job_id, to_item(row)) == row


@pytest.mark.parametrize("change", [{"v": 2}, {"v": None}, {"group": None}, {"ended": "x"}], ids=str)
def test_a_row_that_cannot_be_read_says_nothing(store: Store, change: dict[str, Any]) -> None:
    """Written by a later version: nobody may act as if there were none."""
    jobs = repository(store)
    item = {name: value for name, value in {**to_item(JOB), **change}.items() if value is not None}
    store.write(Put(jobs.table, job_put(jobs.table, JOB).key, item))
    with pytest.raises(Unavailable, match="cannot be read"):
        jobs.read(OWNER, JOB.job_id)


def test_a_row_of_an_earlier_version_has_one_call() -> None:
    item = {name: value for name, value in to_item(JOB).items() if name not in ("calls", "until", "covers", "bound")}
    assert from_item(OWNER, JOB.job_id, item) == JOB


def test_a_latest_job_that_cannot_be_read_says_nothing(store: Store) -> None:
    jobs = repository(store)
    put = latest_put(jobs.table, JOB)
    store.write(Put(jobs.table, put.key, {**put.values, "v": 2}))
    with pytest.raises(Unavailable, match="cannot be read"):
        jobs.latest(OWNER, JOB.group)


def test_ttl_is_in_seconds(store: Store) -> None:
    """From the beginning, however long it takes."""
    jobs = repository(store)
    jobs.start(JOB, "")
    jobs.swap(JOB, finished(JOB))
    assert [item["expiresAt"] for item in every_row(store, jobs.table)] == [(NOW + LIFETIME) // SECOND] * 2


def test_reads_are_strongly_consistent(dynamodb: Any) -> None:
    client = Wrapped(dynamodb)
    evolve(repository(DynamoStore(dynamodb)), store=DynamoStore(client)).read(OWNER, JOB.job_id)
    assert client.calls[0][1]["ConsistentRead"] is True


def test_a_swap_is_one_request(dynamodb: Any) -> None:
    """Also one that is refused: the current row comes with the refusal."""
    client = Wrapped(dynamodb)
    jobs = evolve(repository(DynamoStore(dynamodb)), store=DynamoStore(client))
    jobs.start(JOB, "")
    jobs.swap(JOB, gone_on(JOB))
    jobs.swap(JOB, gone_on(JOB))
    jobs.swap(JOB, gone_on(JOB, 7))
    assert [name for name, _ in client.calls] == ["transact_write_items"] + ["put_item"] * 3


@pytest.mark.parametrize("error", ERRORS)
def test_what_failed_is_unavailable(error: str) -> None:
    """Whether it took place is not known: never taken for a conflict, nor for success."""
    jobs = StoredJobs(store=DynamoStore(Failing(ERRORS[error])), table="t")
    calls: list[Callable[[], object]] = [
        lambda: jobs.read(OWNER, JOB.job_id),
        lambda: jobs.start(JOB, ""),
        lambda: jobs.latest(OWNER, "g"),
        lambda: jobs.swap(JOB, gone_on(JOB)),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            call()
