"""The keys that encrypt secrets: where they come from, and what is refused."""

from base64 import b64encode
from pathlib import Path

import pytest

from delayer.engines.sqlite.secrets import key_id
from delayer.serve.data.keys import VARIABLE, add_key, open_keys
from delayer.serve.refusal import Refusal

KEY, OTHER = b"k" * 32, b"o" * 32
GIVEN = b64encode(KEY).decode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "secrets.key"


def refused(file: Path, environment: dict[str, str] | None = None, in_use: tuple[str, ...] = ()) -> str:
    with pytest.raises(Refusal) as raised:
        open_keys(file, environment or {}, in_use)
    assert raised.value.status == 2
    assert GIVEN not in str(raised.value)
    return str(raised.value)


def test_the_first_time_a_key_is_made_for_its_user_alone(file: Path) -> None:
    keys = open_keys(file, {}, ())
    assert file.stat().st_mode & 0o777 == 0o600
    assert open_keys(file, {}, [keys.newest]) == keys
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_no_key_is_made_where_secrets_are_encrypted(file: Path) -> None:
    assert "is gone" in refused(file, in_use=(key_id(KEY),))
    assert not file.exists()


def test_a_key_of_the_environment_needs_no_file(file: Path) -> None:
    assert open_keys(file, {VARIABLE: GIVEN}, [key_id(KEY)]).keys == (KEY,)
    assert not file.exists()
    both = f"{GIVEN} {b64encode(OTHER).decode()}"
    assert open_keys(file, {VARIABLE: both}, ()).keys == (KEY, OTHER)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o777])
def test_a_file_that_others_may_use_is_refused(file: Path, mode: int) -> None:
    open_keys(file, {}, ())
    file.chmod(mode)
    assert f"`chmod 600 {file}`" in refused(file)


def test_a_key_that_does_not_fit_the_rows_is_refused(file: Path) -> None:
    open_keys(file, {}, ())
    text = refused(file, in_use=(key_id(OTHER),))
    assert key_id(OTHER) in text
    assert str(file) in text
    assert VARIABLE in refused(file, {VARIABLE: GIVEN}, (key_id(KEY), key_id(OTHER)))


@pytest.mark.parametrize("text", ["", "\n", "no base64!", "c2hvcnQ=", GIVEN + " c2hvcnQ=", "\u00e4", "\x00\xff"])
def test_what_is_no_key_is_refused(file: Path, text: str) -> None:
    file.write_text(text, encoding="latin-1")
    file.chmod(0o600)
    assert "cannot be read" in refused(file)
    if text:
        assert "cannot be read" in refused(file, {VARIABLE: text})


def test_a_folder_is_no_file(file: Path) -> None:
    file.mkdir(mode=0o700)
    assert "cannot be read: Is a directory" in refused(file)


def test_a_new_key_becomes_the_newest_and_the_others_stay(file: Path) -> None:
    first = open_keys(file, {}, ())
    add_key(file)
    both = open_keys(file, {}, [first.newest])
    assert both.keys[:-1] == first.keys
    assert both.newest != first.newest
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    with pytest.raises(Refusal, match="is gone"):
        add_key(file)
