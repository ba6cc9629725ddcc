"""The functions' processes: forked, and as separate from each other as started ones."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.processes.forking import fork_functions

WORKER = """
import json, os, random, sys
print(json.dumps({"first": json.loads(input()), "environment": dict(os.environ), "folder": os.getcwd(),
    "path": sys.path, "modules": sorted(sys.modules), "random": random.random(), "main": __name__}), flush=True)
print("a line of its log", file=sys.stderr)
for line in sys.stdin:
    if "end" in line:
        sys.exit(3)
"""
ENVIRONMENT = {"AWS_LAMBDA_FUNCTION_NAME": "delayer-canary"}


@pytest.fixture
def runtime() -> Any:
    runtime = SimpleNamespace()
    fork_functions(runtime)
    return runtime


@pytest.fixture
def worker(runtime: Any, tmp_path: Path) -> Iterator[Any]:
    process = started(runtime, tmp_path, WORKER)
    yield process
    process.kill()
    process.wait(timeout=10)


def started(runtime: Any, folder: Path, script: str) -> Any:
    file, code = folder / "_worker.py", folder / "code"
    file.write_text(script)
    code.mkdir(exist_ok=True)
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    options = {"cwd": str(code), "text": True, "bufsize": 1, "env": ENVIRONMENT, **pipes}
    return runtime.subprocess.Popen([sys.executable, str(file)], **options)


def answer(process: Any) -> dict[str, Any]:
    process.stdin.write('"ä"\n')
    process.stdin.flush()
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def test_it_is_what_a_started_process_would_be(worker: Any, tmp_path: Path) -> None:
    found = answer(worker)
    assert (found["first"], found["main"], found["folder"]) == ("ä", "__main__", str(tmp_path / "code"))
    assert found["environment"] == ENVIRONMENT
    assert found["path"][0] == str(tmp_path)
    assert worker.stderr.readline() == "a line of its log\n"


def test_the_libraries_are_there_and_nothing_of_the_project(worker: Any) -> None:
    found = answer(worker)
    assert {"boto3.session", "aws_lambda_powertools.metrics", "msgspec.json"} <= set(found["modules"])
    assert not [name for name in found["modules"] if name.startswith(("delayer", "ministack", "tests", "hypercorn"))]
    assert not [entry for entry in found["path"] if entry in ("", str(Path.cwd()), str(Path.cwd() / "shared"))]


def test_each_draws_its_own_numbers(runtime: Any, tmp_path: Path) -> None:
    drawn = set()
    for _ in range(2):
        process = started(runtime, tmp_path, WORKER)
        drawn.add(answer(process)["random"])
        process.kill()
        process.wait(timeout=10)
    assert len(drawn) == 2


def test_its_end(worker: Any) -> None:
    answer(worker)
    assert worker.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        worker.wait(timeout=0)
    worker.stdin.write("end\n")
    worker.stdin.flush()
    assert worker.wait(timeout=10) == 3
    assert worker.poll() == worker.returncode == 3
    assert worker.stdout.readline() == ""


def test_it_is_ended(worker: Any) -> None:
    answer(worker)
    worker.terminate()
    assert worker.wait(timeout=10) == -signal.SIGTERM


def test_one_that_dies_of_its_code_closes_its_output(runtime: Any, tmp_path: Path) -> None:
    process = started(runtime, tmp_path, "raise SystemError('broken')")
    assert process.stdout.readline() == ""
    assert "SystemError: broken" in process.stderr.read()
    assert process.wait(timeout=10) == 1


def test_any_other_process_is_started_as_before(runtime: Any) -> None:
    done = runtime.subprocess.Popen([sys.executable, "-c", "print(7)"], stdout=subprocess.PIPE, text=True)
    assert done.communicate()[0] == "7\n"
    assert runtime.subprocess.PIPE == subprocess.PIPE
