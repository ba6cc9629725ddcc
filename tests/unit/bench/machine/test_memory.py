"""The memory of a session's processes, from a copy of what the kernel says."""

from pathlib import Path

from bench.machine.memory import of_session

ROLLUP = "55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss: 99999 kB\nPss: {pss} kB\nPss_Dirty: 1 kB\n"


def process(proc: Path, pid: int, name: str, session: int, pss: int) -> None:
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "stat").write_text(f"{pid} ({name}) S 1 {session} {session} 0 -1 4194304")
    (folder / "comm").write_text(f"{name}\n")
    (folder / "smaps_rollup").write_text(ROLLUP.format(pss=pss))


def test_workers_are_known_by_their_names(tmp_path: Path) -> None:
    process(tmp_path, 10, "python", 10, 100 * 1024)
    process(tmp_path, 11, "parent of fns", 10, 20 * 1024)
    process(tmp_path, 12, "fn delayer-relay", 10, 9 * 1024)
    process(tmp_path, 13, "fn odd) S 1", 10, 11 * 1024)
    process(tmp_path, 14, "fn of another", 99, 50 * 1024)
    found = of_session(10, tmp_path)
    assert found
    assert (found.workers, found.per_worker_mb, found.rest_mb) == (2, 10.0, 120.0)


def test_where_the_kernel_does_not_tell_there_is_no_figure(tmp_path: Path) -> None:
    assert of_session(10, tmp_path) is None


def test_without_workers_all_is_the_rest(tmp_path: Path) -> None:
    process(tmp_path, 10, "python", 10, 1024)
    found = of_session(10, tmp_path)
    assert found
    assert (found.workers, found.per_worker_mb, found.rest_mb) == (0, 0.0, 1.0)
