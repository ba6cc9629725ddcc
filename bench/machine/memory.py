"""How much memory the processes of a stack have: PSS, in which a page that several share counts once in all."""

from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from local.emulator.processes.parent_process.names import FUNCTION

PROC = Path("/proc")


@frozen(kw_only=True)
class Memory:
    """Of the functions' processes, and of the emulator with the parents of these."""

    workers: int
    per_worker_mb: float
    rest_mb: float


def of_session(session: int, proc: Path = PROC) -> Memory | None:
    """Of all processes of a session; None where the kernel does not tell, which only Linux does."""
    sizes = {pid: size for pid in processes_of(session, proc) if (size := pss_mb(pid, proc)) is not None}
    workers = {pid: size for pid, size in sizes.items() if name_of(pid, proc).startswith(FUNCTION)}
    if not sizes:
        return None
    used = sum(workers.values())
    return Memory(
        workers=len(workers),
        per_worker_mb=used / len(workers) if workers else 0.0,
        rest_mb=sum(sizes.values()) - used,
    )


def processes_of(session: int, proc: Path = PROC) -> Iterable[int]:
    """The processes of a session. The sixth field of `stat` is its number; the second may hold anything in brackets."""
    for folder in proc.glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if int(fields[3]) == session:
            yield int(folder.name)


def name_of(pid: int, proc: Path = PROC) -> str:
    """What the process calls itself."""
    try:
        return (proc / str(pid) / "comm").read_text()
    except OSError:
        return ""


def pss_mb(pid: int, proc: Path = PROC) -> float | None:
    """Its memory in megabytes (of 1,024 KB); None if the kernel does not tell, or it has just ended."""
    try:
        text = (proc / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("Pss:")), None)
