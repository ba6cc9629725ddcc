"""No file that an engine makes can be used by other users of the machine, whatever the umask is."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from delayer.engines.sqlite.database import connect
from delayer.engines.sqlite.secrets import KEY_BYTES, KeyRing
from delayer.serve.data.folder import open_folder
from delayer.serve.data.keys import KEYS, open_keys
from delayer.serve.data.layout import opened
from delayer.serve.data.space import MEGABYTE, Space
from delayer.serve.operators.control_socket import ELSEWHERE, SOCKET, ControlSocket
from delayer.serve.turns.lead import Leader
from delayer.serve.turns.machine import LAYOUT
from delayer_client.testing.stack import SETTINGS, Observer


@pytest.fixture(autouse=True)
def _generous() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("name", ["d", "d" * 100])
def test_all_of_them_are_for_its_user_alone(tmp_path: Path, name: str) -> None:
    """It takes a second: a real leader, with its threads. A long path has its socket elsewhere."""
    with closing(open_folder(tmp_path / name)) as folder:
        database = opened(folder, LAYOUT)
        open_keys(folder.path / KEYS, {}, ())
        Space(folder=folder.path, free=folder.free, reserve=MEGABYTE).refill()
        control = ControlSocket(folder=folder.path, answer=lambda line: line)
        control.open()
        leader = Leader(
            database=database, observer=Observer(), environment=SETTINGS, keys=KeyRing(keys=(b"k" * KEY_BYTES,))
        )
        leader.start()
        with closing(connect(str(folder.database))) as reader:
            folder.keep_copy(reader, 1)
        found = {one.name: stat.filemode(one.stat().st_mode) for one in folder.path.iterdir()}
        assert stat.filemode(control.path.stat().st_mode) == "srw-------"
        assert stat.filemode(control.path.parent.stat().st_mode) == "drwx------"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(str(control.path))
        control.close()
        leader.stop()
    own = {SOCKET} if name == "d" else {ELSEWHERE}
    database_files = {"delayer.db", "delayer.db-shm", "delayer.db-wal", "delayer.db.version-1"}
    assert set(found) == own | database_files | {"engine.pid", "reserve", KEYS}
    assert {kind[1:] for kind in found.values()} == {"rw-------"}
