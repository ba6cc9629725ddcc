"""What simulation and model find is on record: a change that makes them weaker is seen in the diff of the record."""

from pathlib import Path

import pytest

from tests.model.configurations import WHOLE
from tests.model.guards import GUARDS
from tests.model.models import MODELS
from tests.proofs.__main__ import STORIES, WITH_DIGEST
from tests.proofs.stored import RECORD as FILE
from tests.proofs.stored import as_text, stored
from tests.proofs.tables import PAGE, PARTS, shown, tables, written
from tests.running.features import all_files
from tests.simulation.bugs import BUGS

RECORD = stored()


def test_each_bug_is_on_record_with_the_invariant_that_it_breaks() -> None:
    """`make record` writes it anew."""
    assert {name: found["breaks"] for name, found in RECORD["bugs"].items()} == {
        bug.name: str(bug.breaks) for bug in BUGS
    }
    assert all(found["seed"] is not None for found in RECORD["bugs"].values())


def test_each_guard_is_on_record_with_its_violation() -> None:
    assert set(RECORD["guards"]) == {guard.name for guard in GUARDS}
    assert all(found["violation"] for found in RECORD["guards"].values())


def test_each_space_of_the_model_is_on_record_and_sound() -> None:
    assert set(RECORD["spaces"]) == set(WHOLE)
    assert not any(found["violation"] for found in RECORD["spaces"].values())


def test_each_other_model_is_on_record() -> None:
    assert {name: set(found["spaces"]) for name, found in RECORD["models"].items()} == {
        name: set(model.spaces) for name, model in MODELS.items()
    }
    guards = {name: {one.name for one in model.guards} for name, model in MODELS.items()}
    assert {name: set(found["guards"]) for name, found in RECORD["models"].items()} == guards
    assert all(one["violation"] for found in RECORD["models"].values() for one in found["guards"].values())


def test_the_first_stories_are_on_record() -> None:
    assert (len(RECORD["stories"]["steps"]), len(RECORD["stories"]["digests"])) == (STORIES, WITH_DIGEST)


def test_the_record_is_as_it_is_written() -> None:
    """A line for each thing: what a change makes of it is seen in the diff."""
    assert as_text(RECORD) == FILE.read_text()


@pytest.mark.parametrize("part", PARTS)
def test_the_page_shows_the_record(part: str) -> None:
    """`make record ARGS=--tables` writes the tables of the page anew."""
    assert shown(PAGE.read_text())[part].splitlines() == tables(RECORD)[part].splitlines()


def test_the_page_has_each_table_once_and_writing_them_again_changes_nothing() -> None:
    page = PAGE.read_text()
    assert page.count("<!-- record: ") == page.count("<!-- end -->") == len(PARTS) == len(tables(RECORD))
    assert written(page, RECORD) == page


def test_a_table_that_differs_is_written_anew() -> None:
    page = PAGE.read_text()
    changed = page.replace("| `lease` |", "| `leash` |")
    assert changed != page
    assert written(changed, RECORD) == page


def test_the_number_of_tests_of_each_folder_is_on_record() -> None:
    """Of a new folder, `make record ARGS=--tests` writes it down."""
    assert {str(Path(file).parent) for file in all_files()} == set(RECORD["tests"])
