"""How the processes of a run share a stack: one starts it, and it ends with the last of them."""

import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.project import PROJECT
from tests.e2e.stacks.attaching import FAILED, Run

MEMBER = "from tests.e2e.stacks.attaching import Run\nrun = Run.join({0!r})\nprint('joined', flush=True)\ninput()"
HOLDER = """
from pathlib import Path
from tests.e2e.stacks.attaching import outlive_nobody
print('holds', flush=True)
outlive_nobody(Path({0!r}))
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """One that nobody else knows."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = Run.join(uuid.uuid4().hex)
    yield run
    run.life.close()


def started(program: str) -> "subprocess.Popen[str]":
    """A process, once it has said that it is ready."""
    path = {"PYTHONPATH": ":".join(str(PROJECT / name) for name in ("shared", "client", "."))}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", program], env=path, text=True, **pipes)  # type: ignore[call-overload]
    assert process.stdout.readline()
    return process  # type: ignore[no-any-return]


def test_a_holder_ends_with_the_last_process_of_the_run_whatever_that_dies_of(run: Run, tmp_path: Path) -> None:
    """It takes more than a second, because three processes start."""
    program = "import tempfile\ntempfile.tempdir = {1!r}\n" + MEMBER
    run_id = run.folder.name.rpartition("-")[2]
    members = [started(program.format(run_id, str(tmp_path))) for _ in range(2)]
    run.life.close()
    holder = started(HOLDER.format(str(run.folder)))
    try:
        members[0].kill()
        members[0].wait()
        with pytest.raises(subprocess.TimeoutExpired):
            holder.wait(0.2)
        members[1].kill()
        assert holder.wait(30) == -signal.SIGTERM
    finally:
        for one in (*members, holder):
            one.kill()
            one.communicate()


def test_of_all_processes_one_starts_a_stack(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def hold(_: Run, name: str, log: Path) -> None:
        begun.append(name)
        log.touch()

    monkeypatch.setattr(Run, "hold", hold)
    another = Run.join(run.folder.name.rpartition("-")[2])
    for one in (run, another, run):
        one.begin(["main", "outages"])
    another.life.close()
    assert begun == ["main", "outages"]


def test_why_a_stack_could_not_start_is_said_at_once(run: Run) -> None:
    (run.folder / "main.log").touch()
    (run.folder / f"main{FAILED}").write_text("no port is free")
    with pytest.raises(AssertionError, match="no port is free"):
        run.attach("main")
