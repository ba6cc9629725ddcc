"""What a run begins with is decided before anything is started, and the user decides where a promise is at stake."""

from pathlib import Path
from typing import Any

import pytest

from local.errors import EmulatorError
from local.keeping import marker, saved
from local.keeping.beginning import Beginning, Choice, Found, decide, found_in
from local.keeping.kept import KeptState
from tests.unit.local.keeping.samples import killed, manifest, save

FOLDER = Path(".local/8080/state")


def decided(
    keep: Choice = Choice.CLEAN, port: int = 8080, parameters: dict[str, str] | None = None, **fields: Any
) -> Beginning:
    return decide(Found(folder=FOLDER, **fields), keep, port, parameters or {})


@pytest.mark.parametrize("keep", Choice)
def test_the_first_run_begins_with_nothing(keep: Choice) -> None:
    assert decided(keep) == Beginning()


@pytest.mark.parametrize("keep", [Choice.CLEAN, Choice.OLD])
def test_a_run_begins_with_what_a_clean_stop_has_saved(keep: Choice) -> None:
    assert decided(keep, saved=manifest()) == Beginning(restored=manifest())


@pytest.mark.parametrize("fields", [{"saved": manifest()}, {"refusal": "it is damaged"}], ids=["ok", "not"])
def test_new_begins_with_nothing_whatever_is_there(fields: dict[str, Any]) -> None:
    assert decided(Choice.NEW, **fields) == Beginning()


@pytest.mark.parametrize("keep", [Choice.CLEAN, Choice.OLD])
def test_a_state_that_cannot_be_taken_is_refused_with_the_ways_to_go_on(keep: Choice) -> None:
    with pytest.raises(EmulatorError, match=r"cannot be used: it has the format 2. It was left as it is.*KEEP=new"):
        decided(keep, refusal="it has the format 2")


def test_a_state_of_another_port_is_refused() -> None:
    with pytest.raises(EmulatorError, match="on port 9090, and the addresses of its queues contain that port"):
        decided(saved=manifest(port=9090))


def test_other_parameters_apply_and_are_said() -> None:
    before = manifest(parameters={"DelayerPeriod": "60", "Shards": "2"})
    beginning = decided(saved=before, parameters={"DelayerPeriod": "840", "LogLevel": "DEBUG"})
    assert beginning.restored == before
    assert [note.removeprefix("A parameter has changed: ") for note in beginning.notes] == [
        "DelayerPeriod is now 840, and was 60.",
        "LogLevel is now DEBUG, and was the default.",
        "Shards is now the default, and was 2.",
    ]


def test_an_older_version_is_said() -> None:
    assert decided(saved=manifest(delayer="0.0.9")).notes[0].startswith("Delayer 0.0.9 has saved the state")


@pytest.mark.parametrize("keep", Choice)
def test_a_killed_first_run_says_what_it_has_lost(keep: Choice) -> None:
    """There is nothing to choose: the next one begins with nothing."""
    [note] = decided(keep, killed=killed()).notes
    assert "The run of 1970-01-01 00:33:20 UTC was killed (its last sign of life: 1970-01-01 00:50:00 UTC)" in note
    assert note.endswith("everything that was scheduled, changed, cancelled or fired in that time is lost.")


def test_after_a_kill_the_user_chooses_whether_an_older_state_fires_again() -> None:
    """Handed over once is a promise, so nobody breaks it but the user."""
    with pytest.raises(EmulatorError) as refusal:
        decided(saved=manifest(), killed=killed())
    text = str(refusal.value)
    assert "is lost. The state of 1970-01-01 00:16:40 UTC, with 12 schedules, from before it is still there" in text
    assert "`make local KEEP=old` begins with it all the same, `make local KEEP=new` begins with nothing" in text
    assert decided(Choice.NEW, saved=manifest(), killed=killed()).restored is None
    old = decided(Choice.OLD, saved=manifest(), killed=killed())
    assert old.restored == manifest()
    assert old.notes[0].endswith("is lost. What has fired since 1970-01-01 00:16:40 UTC fires again.")


@pytest.mark.parametrize(("port", "given"), [(8080, ""), (20500, " PORT=20500"), (9090, " PORT=9090")], ids=str)
def test_the_commands_of_an_advice_have_the_port_of_the_run(port: int, given: str) -> None:
    """Copied without it, they would start another stack, and leave this one where it is."""
    with pytest.raises(EmulatorError) as killed_before:
        decided(port=port, saved=manifest(port=port), killed=killed())
    assert f"`make local KEEP=old{given}`" in str(killed_before.value)
    assert f"`make local KEEP=new{given}`" in str(killed_before.value)
    with pytest.raises(EmulatorError) as refused:
        decided(port=port, refusal="it is damaged")
    assert f"`make local KEEP=new{given}`" in str(refused.value)
    assert f"KEEP=1 PORT={9100 if port == 9090 else 9090}`" in str(refused.value)


def test_a_run_that_was_killed_after_it_had_saved_has_lost_nothing(tmp_path: Path) -> None:
    written = save(tmp_path, run="this")
    marker.put(tmp_path, killed("this").marker)
    assert found_in(tmp_path) == Found(folder=tmp_path, saved=written)


def test_what_is_found_says_why_it_cannot_be_taken(tmp_path: Path) -> None:
    (tmp_path / saved.FILE).write_text("{}\n{}\n")
    assert found_in(tmp_path) == Found(folder=tmp_path, refusal="it does not begin with a manifest")


def test_one_run_after_the_other(tmp_path: Path) -> None:
    """The first saves; the second begins with that, and is killed; the third says so."""
    first = KeptState(tmp_path, 8080, {})
    assert first.begin(Choice.CLEAN) == Beginning()
    assert not first.has_begun
    first.mark()
    assert first.has_begun
    written = save(tmp_path, run=first.run, stack=first.stack)
    first.saved()
    first.close()
    second = KeptState(tmp_path, 8080, {})
    assert second.begin(Choice.CLEAN) == Beginning(restored=written)
    assert second.stack == first.stack  # names of queues come from it
    second.mark()
    second.close()
    third = KeptState(tmp_path, 8080, {})
    with pytest.raises(EmulatorError, match="was killed"):
        third.begin(Choice.CLEAN)
    assert third.begin(Choice.OLD).restored == written
    third.close()
