"""A PostgreSQL of the system is found, started and stopped, or a sentence says why not."""

import os
from pathlib import Path

import pytest

from bench.peers import environment, postgresql
from bench.peers.contender import Unavailable
from bench.peers.contenders.procrastinate_postgresql import Procrastinate
from bench.peers.postgresql import PostgreSql, programs
from bench.peers.run import measure_one
from tests.unit.bench.peers.test_run import SIZES

SERVER = "trap 'echo stopped > {folder}/stopped; exit 0' INT; touch {folder}/started; while :; do sleep 0.05; done"


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on the PATH nor by Debian; and this user is not root, who would become another one."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    monkeypatch.setattr(postgresql, "DEBIAN", tmp_path / "debian")
    monkeypatch.setattr(postgresql, "ON_DISK", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


def installed(folder: Path, **scripts: str) -> Path:
    """Programs that are scripts of the shell."""
    folder.mkdir(parents=True)
    for name, script in scripts.items():
        file = folder / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    return folder


def test_the_newest_of_debian_is_taken(tmp_path: Path) -> None:
    for version in ("9.6", "15", "17"):
        installed(tmp_path / "debian" / version / "bin", initdb="true")
    assert programs() == tmp_path / "debian/17/bin"


def test_that_of_the_path_comes_first_and_a_link_leads_to_its_folder(tmp_path: Path) -> None:
    installed(tmp_path / "debian/17/bin", initdb="true")
    real = installed(tmp_path / "real", initdb="true")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/initdb").symlink_to(real / "initdb")
    assert programs() == real


def test_without_it_the_scheduler_is_left_out_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "FOLDER", tmp_path / "peers")
    monkeypatch.setattr(environment, "python", lambda: Path("python"))
    skipped = measure_one("procrastinate", Procrastinate, SIZES).skipped
    assert skipped == (
        f"PostgreSQL is not installed: initdb is neither on the PATH nor in {tmp_path / 'debian'}. "
        "In Debian and Ubuntu it is the package postgresql."
    )
    assert list(tmp_path.glob("delayer-peers-*")) == []


def test_why_it_could_not_make_its_files_is_passed_on(tmp_path: Path) -> None:
    installed(tmp_path / "bin", initdb="echo 'initdb: error: no space' >&2; exit 1")
    with pytest.raises(Unavailable, match=r"^PostgreSQL could not be started: initdb: error: no space$"):
        PostgreSql().start()


def test_one_that_ends_says_why_in_its_log(tmp_path: Path) -> None:
    installed(
        tmp_path / "bin", initdb="true", postgres="echo 'FATAL: no memory' >&2; exit 1", pg_isready="sleep 0.1; exit 2"
    )
    with pytest.raises(Unavailable, match=r"^postgresql has ended: FATAL: no memory$"):
        PostgreSql().start()


def test_it_is_stopped_by_its_own_id_and_its_files_are_deleted(tmp_path: Path) -> None:
    server, ready = SERVER.format(folder=tmp_path), f"test -e {tmp_path}/started"
    installed(tmp_path / "bin", initdb="true", postgres=server, pg_isready=ready)
    database = PostgreSql()
    database.start()
    assert database.address == f"host={database.folder} user=postgres dbname=postgres"
    assert database.server
    assert os.getsid(database.server.process.pid) == database.server.process.pid
    database.stop()
    database.stop()
    assert (tmp_path / "stopped").read_text() == "stopped\n"
    assert not database.folder.exists()
