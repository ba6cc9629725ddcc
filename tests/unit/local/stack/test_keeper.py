"""A stop waits until nothing is under way, but not for ever, and not against the user's will."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.errors import EmulatorError
from local.keeping import marker
from local.keeping.beginning import Choice
from local.stack import keeper
from local.stack.keeper import Keeper
from local.stack.process import EmulatorProcess
from tests.unit.local.keeping.samples import manifest, save

SAVE, LEFT = "/_local/state/save", "/_local/state/left"


class Emulator:
    """Answers what is left, one after the other, and at last always the same."""

    def __init__(self, *left: Any) -> None:
        self.left = list(left)
        self.asked: list[str] = []

    def __call__(self, _method: str, path: str, content: Any) -> Any:
        self.asked.append(path)
        if path == SAVE:
            return {**content, "emulator": "1.5.33"}
        if path != LEFT:
            return {}
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "POLL_SECONDS", 0.0)


def keeping(folder: Path, emulator: Emulator, keep: Choice = Choice.CLEAN) -> Keeper:
    return Keeper.of(folder, 8080, {"Shards": "2"}, keep, emulator)


def test_it_saves_when_nothing_was_under_way_twice_in_a_row(tmp_path: Path) -> None:
    emulator = Emulator({"invocations of delayer-relay": 2}, {}, {"stream records for series-stepper": 1}, {}, {})
    kept = keeping(tmp_path, emulator)
    kept.release()
    assert marker.killed_in(tmp_path)
    saved = kept.save(60)
    assert emulator.asked == ["/_local/state/release", "/_local/state/rest", *[LEFT] * 5, SAVE]
    assert saved.left == {}
    assert (saved.manifest.stack, saved.manifest.parameters) == (kept.kept.stack, {"Shards": "2"})
    assert marker.killed_in(tmp_path) is None
    kept.close()


def test_what_does_not_end_in_time_is_named_and_saved_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "LAST_SECONDS", 0.0)
    left = {"stream records for subscriber-own": 3}
    kept = keeping(tmp_path, Emulator(left))
    saved = kept.save(0)
    assert saved.left == left
    kept.close()


def test_an_attempt_that_is_made_may_write_its_outcome_whatever_the_hurry(tmp_path: Path) -> None:
    """Without the outcome it is made again: the functions are let in for a moment longer."""
    executing = {"invocations of executor-http-request": 3}
    emulator = Emulator(executing, executing, {"invocations of executor-http-request": 1}, {}, {})
    kept = keeping(tmp_path, emulator)
    assert kept.save(60, hurry=lambda: True).left == {}
    assert emulator.asked == ["/_local/state/rest", *[LEFT] * 5, SAVE]
    kept.close()


def test_one_look_at_a_stack_that_seems_to_rest_is_not_enough_in_a_hurry_either(tmp_path: Path) -> None:
    emulator = Emulator({}, {"requests of functions": 1}, {}, {})
    kept = keeping(tmp_path, emulator)
    assert kept.save(60, hurry=lambda: True).left == {}
    assert emulator.asked[1:] == [LEFT] * 4 + [SAVE]
    kept.close()


def test_a_second_ctrl_c_ends_the_waiting_and_not_the_saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "LAST_SECONDS", -1.0)
    left = {"invocations of executor-http-request": 1}
    emulator = Emulator(left)
    kept = keeping(tmp_path, emulator)
    pressed = iter([False, False, True])
    assert kept.save(60, hurry=lambda: next(pressed)).left == left
    assert emulator.asked[1:] == [LEFT, LEFT, LEFT, LEFT, SAVE]
    kept.close()


def test_a_save_that_fails_leaves_the_marker(tmp_path: Path) -> None:
    """The next start says that the run has lost what it did."""

    def fails(_method: str, path: str, _content: Any) -> Any:
        if path == SAVE:
            raise EmulatorError("no space left")
        return {}

    kept = Keeper.of(tmp_path, 8080, {}, Choice.CLEAN, fails)
    kept.release()
    with pytest.raises(EmulatorError, match="no space left"):
        kept.save()
    assert marker.killed_in(tmp_path)
    kept.close()


def test_a_run_with_nothing_saved_fills_nothing(tmp_path: Path) -> None:
    emulator = Emulator({})
    kept = keeping(tmp_path, emulator)
    kept.fill()
    assert emulator.asked == []
    kept.close()


def test_a_state_that_does_not_fit_is_refused_and_stays(tmp_path: Path) -> None:
    save(tmp_path)

    def misfits(*_: Any) -> Iterator[Any]:
        raise EmulatorError("the queue q holds data, and the stack has it no more")

    kept = Keeper.of(tmp_path, 8080, {}, Choice.CLEAN, misfits)
    with pytest.raises(EmulatorError, match=r"the queue q holds data.*It was left as it is.*PORT=9090"):
        kept.fill()
    kept.close()
    assert marker.killed_in(tmp_path) is None  # nothing has begun
    with pytest.raises(EmulatorError, match="saved on port 8080"):
        Keeper.of(tmp_path, 9090, {}, Choice.CLEAN, misfits)
    keeping(tmp_path, Emulator({})).close()  # who was refused has let go of the folder


def test_the_emulator_gets_the_id_of_the_stack_that_saved(tmp_path: Path) -> None:
    save(tmp_path, stack="abc")
    kept = keeping(tmp_path, Emulator({}))
    assert kept.settings() == {"DELAYER_STATE_FOLDER": str(tmp_path), "DELAYER_STACK": manifest().stack}
    kept.close()


def test_a_start_deletes_the_files_of_the_run_before_and_not_its_state(tmp_path: Path) -> None:
    save(tmp_path / "state")
    for name in ("logs", "tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").touch()
    (tmp_path / "emulator.log").touch()
    process: Any = EmulatorProcess(1, 2, tmp_path, False, None)  # type: ignore[arg-type]
    process.empty_folder()
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["logs", "s3", "state", "state/saved.json", "tmp"]
