"""A state is on the disk whole or not at all, for its user alone, and only code that understands it takes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from local.emulator.patches.install import MINISTACK_VERSION
from local.errors import EmulatorError
from local.keeping import saved
from local.keeping.manifest import READABLE, Manifest, version_of_delayer
from tests.unit.local.keeping.samples import CONTENTS, manifest, save


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    written = save(tmp_path, parameters={"Shards": "2"})
    assert saved.contents_in(tmp_path) == (written, CONTENTS)
    assert written.delayer == version_of_delayer()


@pytest.mark.parametrize(
    "value",
    [
        {"__bytes__": {"of": "a user"}},
        {"__bytes__": "AA=="},
        {"__escaped__": {"__bytes__": "AA=="}},
        {"__escaped__": 1},
        {"__bytes__": b"x", "more": [{"__bytes__": 1}, b"y"]},
        [{"__escaped__": {"__escaped__": b"z"}}],
    ],
    ids=["object", "text", "both", "number", "two keys", "in a list"],
)
def test_data_that_looks_like_a_mark_comes_back_as_it_was(tmp_path: Path, value: Any) -> None:
    saved.write(tmp_path, manifest(), {"value": value})
    assert saved.contents_in(tmp_path)[1] == {"value": value}


def test_contents_that_cannot_be_read_are_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older version wrote such an object as it was."""
    with monkeypatch.context() as patch:
        patch.setattr(saved, "escaped", lambda value: value)
        saved.write(tmp_path, manifest(), {"value": {"__bytes__": {}}})
    with pytest.raises(EmulatorError, match="its contents cannot be read"):
        saved.contents_in(tmp_path)


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    save(tmp_path)
    assert (tmp_path / saved.FILE).stat().st_mode & 0o777 == 0o600


def test_a_stop_that_fails_leaves_the_state_before(tmp_path: Path) -> None:
    before = save(tmp_path)
    with pytest.raises(TypeError, match="set cannot be saved"):
        saved.write(tmp_path, manifest(run="later"), {"streams": {1}})
    assert saved.manifest_in(tmp_path) == before


def test_one_that_is_killed_while_it_writes_leaves_the_state_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = save(tmp_path)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path, run="later")
    assert saved.contents_in(tmp_path) == (before, CONTENTS)
    later = save(tmp_path, run="later")  # over what was left
    assert saved.contents_in(tmp_path) == (later, CONTENTS)


def test_where_nothing_is_saved_there_is_none(tmp_path: Path) -> None:
    assert saved.manifest_in(tmp_path) is None
    with pytest.raises(EmulatorError, match="nothing is saved"):
        saved.contents_in(tmp_path)


def test_a_damaged_state_is_refused(tmp_path: Path) -> None:
    save(tmp_path)
    file = tmp_path / saved.FILE
    file.write_bytes(file.read_bytes().replace(b'"streams":[]', b'"streams":{}'))
    with pytest.raises(EmulatorError, match="it is damaged"):
        saved.contents_in(tmp_path)


@pytest.mark.parametrize("line", [b"", b"no JSON", b"[]", b"{}", b'{"format": "1"}'])
def test_a_file_without_a_manifest_is_refused(tmp_path: Path, line: bytes) -> None:
    (tmp_path / saved.FILE).write_bytes(line + b"\n{}\n")
    with pytest.raises(EmulatorError, match="does not begin with a manifest"):
        saved.manifest_in(tmp_path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 2}, "it has the format 2, and this version of Delayer reads 1"),
        ({"delayer": "99.0.0"}, "Delayer 99.0.0 has saved it, and this is the older"),
        ({"delayer": "0.10.0"}, "Delayer 0.10.0 has saved it"),
        (
            {"emulator": "1.5.34"},
            "the emulator 1.5.34 has saved it, and this one reads what 1.5.33 has",
        ),
        ({"more": 1}, "its manifest is not complete"),
    ],
    ids=["format", "far newer", "newer", "emulator", "unknown field"],
)
def test_a_state_of_another_version_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(EmulatorError, match=reason):
        Manifest.read({**manifest().written(), **change})


def test_the_state_of_an_older_delayer_is_taken() -> None:
    """What it wrote stays readable: the records have versions of their own."""
    assert Manifest.read({**manifest().written(), "delayer": "0.0.9"}).delayer == "0.0.9"


def test_the_emulator_of_this_version_is_readable() -> None:
    """Whoever takes another version of ministack decides what becomes of the states that the old one has saved."""
    assert MINISTACK_VERSION in READABLE


def test_a_manifest_is_one_line_of_json(tmp_path: Path) -> None:
    written = save(tmp_path)
    assert json.loads((tmp_path / saved.FILE).read_bytes().split(b"\n")[0]) == written.written()
