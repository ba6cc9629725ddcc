"""The control rows of suspects: what was begun and never came to an end."""

import pytest

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.store import Store
from delayer.recovery.ports import Trials
from delayer.recovery.repository import StoredTrials
from delayer.recovery.rules import Trial
from delayer.schedule.instants import DAY, SECOND
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.contract.every_row import every_row
from tests.samples import NOW

ADAPTER = StoredTrials


@pytest.fixture
def trials(store: Store) -> StoredTrials:
    return StoredTrials(store=store, table=create_table(store, "name"))


def test_a_run_that_was_begun_is_unfinished(trials: Trials) -> None:
    assert trials.unfinished("one") is None
    trials.begin("one", Trial(began=NOW))
    assert trials.unfinished("one") == Trial(began=NOW)
    trials.begin("one", Trial(began=NOW + 1, proofs=2))
    assert trials.unfinished("one") == Trial(began=NOW + 1, proofs=2)


def test_a_row_that_nobody_deletes_expires_after_what_sqs_keeps(store: Store, trials: StoredTrials) -> None:
    trials.begin("one", Trial(began=NOW))
    trials.note_pass("delayer-relay", NOW)
    rows = every_row(store, trials.table)
    expiring = {row["name"]: row["expiresAt"] for row in rows if "expiresAt" in row}
    assert expiring == {"suspect#one": (NOW + 30 * DAY) // SECOND}


def test_a_run_that_ends_clears_it(trials: Trials) -> None:
    trials.begin("one", Trial(began=NOW))
    trials.finish("one")
    assert trials.unfinished("one") is None


def test_a_batch_is_begun_and_finished_as_a_whole(trials: Trials) -> None:
    trials.begin_all(["one", "two", "three"], NOW)
    assert trials.unfinished("two") == Trial(began=NOW)
    assert trials.any_unfinished(["one", "two", "four"]) == {"one", "two"}
    trials.finish_all(["one", "two"])
    assert trials.any_unfinished(["one", "two", "three", "four"]) == {"three"}


def test_suspects_are_apart(trials: Trials) -> None:
    trials.begin("one", Trial(began=NOW))
    trials.finish("another")
    assert trials.unfinished("one") == Trial(began=NOW)
    assert trials.unfinished("another") is None


def test_a_pass_goes_forward_only(trials: Trials) -> None:
    assert trials.passed("delayer-relay") is None
    trials.note_pass("delayer-relay", NOW)
    trials.note_pass("delayer-relay", NOW - 1)
    assert trials.passed("delayer-relay") == NOW
    assert trials.passed("executor-http-request") is None


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_error_of_aws_is_unavailable(error: Exception) -> None:
    trials = StoredTrials(store=DynamoStore(Failing(error)), table="table")
    for ask in (
        lambda: trials.unfinished("one"),
        lambda: trials.begin("one", Trial(began=NOW)),
        lambda: trials.finish("one"),
        lambda: trials.finish_all(["one", "two"]),
        lambda: trials.any_unfinished(["one"]),
        lambda: trials.begin_all(["one"], NOW),
        lambda: trials.note_pass("delayer-relay", NOW),
        lambda: trials.passed("delayer-relay"),
    ):
        with pytest.raises(Unavailable):
            ask()
