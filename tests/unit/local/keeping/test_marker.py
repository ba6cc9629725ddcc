"""One process at a time uses a state, and one that was killed leaves its marker."""

import subprocess
import sys
from pathlib import Path

import pytest

from local.errors import EmulatorError
from local.keeping import marker
from local.keeping.marker import Killed, Lock, Marker, SignsOfLife
from tests.cfn import ROOT

HOLDING = """
import pathlib, sys
from local.keeping.marker import Lock
lock = Lock.take(pathlib.Path(sys.argv[1]), 8080)
print("held", flush=True)
input()
"""
MARKER = Marker(run="this", pid=7, began_at=1_000)


def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert first.stdout
    assert first.stdout.readline() == b"held\n"
    for port, another in ((8080, 9090), (9090, 9100)):
        with pytest.raises(EmulatorError, match=f"Another process uses the state in .*KEEP=1 PORT={another}"):
            Lock.take(tmp_path, port)
    first.kill()
    first.communicate()
    Lock.take(tmp_path, 8080).release()


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    """Also those that an older version has left."""
    for name in (marker.LOCK, marker.FILE):
        (tmp_path / name).touch(0o644)
    Lock.take(tmp_path, 8080).release()
    marker.put(tmp_path, MARKER)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in (marker.LOCK, marker.FILE)] == [0o600, 0o600]


def test_a_run_that_did_not_take_its_marker_away_was_killed(tmp_path: Path) -> None:
    assert marker.killed_in(tmp_path) is None
    marker.put(tmp_path, MARKER)
    found = marker.killed_in(tmp_path)
    assert found
    assert found.marker == MARKER
    marker.take_away(tmp_path)
    assert marker.killed_in(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"run": "x"}'])
def test_half_a_marker_is_one_too(tmp_path: Path, text: str) -> None:
    """The power went while it was written."""
    (tmp_path / marker.FILE).write_text(text)
    found = marker.killed_in(tmp_path)
    assert isinstance(found, Killed)
    assert found.marker.run == ""


def test_signs_of_life_end_with_the_folder(tmp_path: Path) -> None:
    signs = SignsOfLife(tmp_path, interval=0.001)
    signs.start()  # there is no marker
    signs.thread.join(5)
    assert not signs.thread.is_alive()
