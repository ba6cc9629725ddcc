"""One scheduler that cannot be had does not stop the others."""

import os
import signal
import sys
from pathlib import Path

import pytest

from bench.command.options import parse
from bench.peers import environment
from bench.peers.contender import Unavailable
from bench.peers.names import NAMES, OURS, USUAL
from bench.peers.processes import Program, children_of, memory_mb, proportional_mb, session_of
from bench.peers.run import factories, measure_one, sizes_of
from tests.unit.bench.peers.scripted import Scripted

INTERPRETER = Path(sys.prefix) / "bin" / "python"
SIZES = sizes_of(parse(["--quick", "--peers"]))


def test_one_that_cannot_be_installed_is_left_out_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = measure_one("celery", lambda: Scripted(at_start="It could not be installed: no network."), SIZES)
    assert outcome.skipped == "It could not be installed: no network."
    assert "celery is left out. It could not be installed: no network." in capsys.readouterr().out


def test_one_that_ends_in_the_middle_is_left_out_and_stopped() -> None:
    contender = Scripted(in_use="service has ended: out of memory")
    assert measure_one("celery", lambda: contender, SIZES).skipped == "service has ended: out of memory"
    assert contender.is_stopped


def test_what_pip_says_is_passed_on(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("!!\n")
    with pytest.raises(Unavailable, match=r"^python could not install it: ERROR: Invalid requirement"):
        environment.run([str(INTERPRETER), "-m", "pip", "install", "--requirement", str(requirements)])


def test_the_environment_is_made_again_only_if_the_requirements_have_changed(tmp_path: Path) -> None:
    requirements, folder = tmp_path / "requirements.txt", tmp_path / "environment"
    requirements.write_text("celery==1\n")
    folder.mkdir()
    (folder / "installed.txt").write_text("celery==1\n")
    assert environment.python(folder, requirements) == folder / "bin" / "python"
    assert list(folder.iterdir()) == [folder / "installed.txt"]


def test_a_program_that_does_not_exist_is_said_so() -> None:
    with pytest.raises(Unavailable, match=r"^It could not be installed: .*no/such"):
        environment.run(["/no/such/program"])


def test_a_program_answers_and_is_ended_by_its_id(tmp_path: Path) -> None:
    program = Program(["/bin/sh", "-c", "echo '\"ready\"'; read line; echo $(( 1 + 1 )); sleep 60"], tmp_path / "x.log")
    assert program.answer() == "ready"
    assert program.ask("add") == 2
    program.kill()
    program.kill()
    assert program.process.returncode == -9


def test_a_program_may_end_by_itself_but_not_for_long(tmp_path: Path) -> None:
    for trap, code in (("trap 'exit 3' INT", 3), ("trap '' INT", -9)):
        script = f"{trap}; echo '\"ready\"'; while :; do sleep 0.05; done"
        program = Program(["/bin/sh", "-c", script], tmp_path / "x.log")
        program.answer()
        program.stop(signal.SIGINT, 0.5)
        assert program.process.returncode == code


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which processes there are")
def test_the_memory_includes_children_that_have_sessions_of_their_own(tmp_path: Path) -> None:
    script = (
        "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True); print(1, flush=True); input()"
    )
    program = Program([str(INTERPRETER), "-c", script], tmp_path / "x.log")
    program.answer()
    (child,) = children_of(program.process.pid)
    assert [number for number, _ in session_of(program.process.pid)] == [program.process.pid]
    alone = proportional_mb(program.process.pid)
    assert memory_mb([program.process.pid]) == pytest.approx(alone + proportional_mb(child), rel=0.2)
    os.kill(child, signal.SIGKILL)
    program.kill()


def test_why_a_program_has_ended_is_the_last_line_of_its_log(tmp_path: Path) -> None:
    program = Program(["/bin/sh", "-c", "echo no module >&2; exit 1"], tmp_path / "worker.log")
    with pytest.raises(Unavailable, match=r"^worker has ended: no module$"):
        program.answer()
    program.kill()


def test_each_name_has_a_scheduler() -> None:
    assert tuple(factories(parse(["--peers"]))) == NAMES


def test_all_are_measured_or_those_that_are_named() -> None:
    assert parse([]).peers == ()
    assert parse(["--peers"]).peers == NAMES
    assert parse(["--peers", "--quick"]).peers == USUAL
    assert parse(["--peer", OURS[0], "--peer", "celery"]).peers == ("celery", OURS[0])


def test_the_sizes_are_those_of_the_benchmark() -> None:
    whole = sizes_of(parse(["--peers"]))
    assert (whole.rate, whole.burst, whole.at_once, whole.waiting) == (50, 500, 3_000, 100_000)
    assert (SIZES.rate, SIZES.burst, SIZES.at_once, SIZES.waiting) == (20, 100, 600, 20_000)
