"""The functions' processes: forked from one parent for each layer, and as separate from each other as started ones."""

import io
import json
import os
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from ministack.core import lambda_runtime

from local.emulator.access.function_sessions import issue_secret_credentials
from local.emulator.processes.forked_process import LARGEST_LOG, ForkedProcess, Log
from local.emulator.processes.forking import end_unused_since
from local.emulator.processes.parent_process import messages
from local.emulator.processes.parents import Parents
from local.emulator.processes.worker import ForkedWorker
from local.project import PROJECT
from tests.cfn import ROOT

APP = """
import json, os, random, sys, time
import one_layer

def handler(event, context):
    print("a line of its log")
    if event == "fail":
        raise ValueError("this one fails")
    if event == "end":
        os._exit(3)
    if event == "sleep":
        time.sleep(30)
    return {"event": event, "environment": dict(os.environ), "folder": os.getcwd(), "path": sys.path,
        "modules": sorted(sys.modules), "random": random.random(), "layer": one_layer.imported_by,
        "pid": os.getpid(), "id": context.aws_request_id, "left": context.get_remaining_time_in_millis()}
"""
LAYER = "import os\nimported_by = os.getpid()\n"
POOLS = "_workers"  # ministack's name
FUNCTION = "arn:aws:lambda:us-east-1:000000000000:function:"


def archive(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as content:
        for name, text in files.items():
            content.writestr(name, text)
    return buffer.getvalue()


LAYER_ARCHIVE = archive({"python/one_layer/__init__.py": LAYER})


@pytest.fixture(scope="module")
def parents() -> Iterator[Parents]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("GATEWAY_PORT", "9")
        monkeypatch.setattr("local.emulator.processes.worker.layers_of", lambda _config: [LAYER_ARCHIVE])
        yield Parents()


@pytest.fixture
def workers(parents: Parents) -> Iterator[list[ForkedWorker]]:
    made = [worker(parents, "delayer-one"), worker(parents, "delayer-other")]
    yield made
    for one in made:
        one.kill()


def worker(parents: Parents, name: str, app: str = APP, **config: Any) -> ForkedWorker:
    given = {
        "FunctionName": name,
        "FunctionArn": FUNCTION + name,
        "Role": f"arn:aws:iam::000000000000:role/{name}",
        "Handler": "app.handler",
        "Environment": {"Variables": {"OWN": name, "AWS_REGION": "elsewhere"}},
        **config,
    }
    return ForkedWorker(runtime_with_keys(), parents, name, given, archive({"app.py": app}))


class Sessions:
    """As ministack's STS."""

    @staticmethod
    def register_session(key: str, session: dict[str, str]) -> None:
        """Forgets it."""


def runtime_with_keys() -> Any:
    issue_secret_credentials(lambda_runtime, lambda_runtime, Sessions)
    return lambda_runtime


def result_of(one: ForkedWorker, event: object = None) -> dict[str, Any]:
    answer = one.invoke(event, "request-1")
    assert answer["status"] == "ok", answer
    found: dict[str, Any] = answer["result"]
    return found


def test_it_is_what_a_started_process_would_be(workers: list[ForkedWorker]) -> None:
    """It takes a second: that process is started."""
    found = result_of(workers[0], {"text": "ä"})
    assert (found["event"], found["id"]) == ({"text": "ä"}, "request-1")
    assert found["path"][0] == found["folder"]
    assert 0 < found["left"] <= 30_000
    environment = found["environment"]
    assert (environment["OWN"], environment["AWS_LAMBDA_FUNCTION_NAME"]) == ("delayer-one", "delayer-one")
    assert environment["AWS_REGION"] == "us-east-1", "Lambda's own variables cannot be changed"
    assert "DELAYER_LOG_FOLDER" not in environment


def test_what_speaks_tls_is_called_and_trusted_by_functions(parents: Parents, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is asked for (ADR 0169); else they call the port of all others. It takes a second: processes start."""
    plain = environment_of(worker(parents, "delayer-plain"))
    monkeypatch.setenv("DELAYER_ENDPOINT_OF_FUNCTIONS", "https://127.0.0.1:7")
    monkeypatch.setenv("AWS_CA_BUNDLE", "/certificate.pem")
    over_tls = environment_of(worker(parents, "delayer-over-tls"))
    assert plain["AWS_ENDPOINT_URL"] == "http://127.0.0.1:9"
    assert "AWS_CA_BUNDLE" not in plain
    assert over_tls["AWS_ENDPOINT_URL"] == "https://127.0.0.1:7"
    assert over_tls["AWS_CA_BUNDLE"] == "/certificate.pem"


def environment_of(one: ForkedWorker) -> dict[str, str]:
    """The variables of its process, which then is ended."""
    try:
        return dict(result_of(one)["environment"])
    finally:
        one.kill()


def test_the_layer_is_imported_by_the_parent_and_nothing_of_the_project_is_there(workers: list[ForkedWorker]) -> None:
    found = [result_of(one) for one in workers]
    assert len({each["layer"] for each in found}) == 1
    assert found[0]["layer"] not in {each["pid"] for each in found}
    assert {"boto3.session", "aws_lambda_powertools.metrics", "msgspec.json"} <= set(found[0]["modules"])
    assert not [name for name in found[0]["modules"] if name.startswith(("ministack", "tests", "uvicorn"))]
    assert not [entry for entry in found[0]["path"] if entry in ("", str(PROJECT), str(PROJECT / "shared"))]


def test_each_has_its_own_keys_and_draws_its_own_numbers(workers: list[ForkedWorker]) -> None:
    one, other = (result_of(each) for each in workers)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        assert one["environment"][name] != other["environment"][name]
    assert one["random"] != other["random"]


def test_its_log_is_there_when_it_answers(workers: list[ForkedWorker]) -> None:
    assert [workers[0].invoke(None, "1")["log"] for _ in range(2)] == ["a line of its log"] * 2


def test_an_error_is_an_answer_and_the_process_lives_on(workers: list[ForkedWorker]) -> None:
    pid = result_of(workers[0])["pid"]
    answer = workers[0].invoke("fail", "request-1")
    assert (answer["status"], answer["error"]) == ("error", "this one fails")
    assert "ValueError" in answer["trace"]
    assert result_of(workers[0])["pid"] == pid


def test_one_that_dies_is_replaced(workers: list[ForkedWorker]) -> None:
    pid = result_of(workers[0])["pid"]
    assert workers[0].invoke("end", "request-1")["error"] == "Worker process died"
    assert result_of(workers[0])["pid"] != pid


def test_one_that_runs_out_of_time_is_ended(parents: Parents) -> None:
    slow = worker(parents, "delayer-slow", Timeout=0.2)
    answer = slow.invoke("sleep", "request-1")
    assert answer["error"] == "Task timed out after 0.20 seconds"
    assert result_of(slow, "again")["event"] == "again"
    slow.kill()


def test_parents_that_have_ended_are_started_once_more(parents: Parents) -> None:
    """Their processes are no worse for it. It takes a second: parents are processes."""
    one, other = worker(parents, "delayer-one"), worker(parents, "delayer-other")
    before = result_of(one)["pid"]
    for parent in parents.by_layers.values():
        parent.control.close()  # as if they were gone: each ends when nobody can give it orders
    assert result_of(other)["pid"] != before
    assert result_of(one)["pid"] == before
    one.kill()
    other.kill()


def test_one_that_does_not_start_in_time_leaves_no_answer_for_others(
    parents: Parents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else its late answer would be taken for that to the first event."""
    monkeypatch.setattr("local.emulator.processes.worker.LONGEST_START", 0.2)
    slow = worker(parents, "delayer-slow", f"import time\ntime.sleep(0.5)\n{APP}")
    with pytest.raises(RuntimeError, match="has not started within"):
        slow.invoke(None, "request-1")
    monkeypatch.setattr("local.emulator.processes.worker.LONGEST_START", 30)
    assert result_of(slow, "first")["event"] == "first"
    slow.kill()


def test_a_process_that_is_waited_for_is_seen_to_run() -> None:
    """Whoever looks neither waits for its answer, nor takes it away."""
    ours, theirs = socket.socketpair()
    process = ForkedProcess(os.getpid(), ours)
    answers: list[Any] = []
    waits = Thread(target=lambda: answers.append(messages.receive(ours, 20)))
    waits.start()
    assert [process.poll() for _ in range(100)] == [None] * 100
    messages.send(theirs, "its answer")
    waits.join(20)
    assert answers == ["its answer"]
    theirs.close()
    assert process.poll() == 1
    ours.close()
    assert process.poll() == 1


@pytest.mark.parametrize(
    "text", ["raise SystemExit('a setting is missing')", "raise ValueError('a setting is missing')"]
)
def test_one_that_cannot_be_imported_says_why(parents: Parents, text: str) -> None:
    with pytest.raises(RuntimeError, match="a setting is missing"):
        worker(parents, "delayer-broken", text).invoke(None, "request-1")


def test_those_that_nobody_uses_end(workers: list[ForkedWorker]) -> None:
    """The last one of a function, too; one that works does not."""
    idle, working = workers
    for one in workers:
        result_of(one)
    working.in_use, idle.last_used, working.last_used = True, 1.0, 1.0
    pid = idle.invoke(None, "1")["result"]["pid"]
    pools = getattr(lambda_runtime, POOLS)
    pools["key"] = [idle, working]
    try:
        end_unused_since(lambda_runtime, 2.0)
        assert pools["key"] == [working]
    finally:
        del pools["key"]
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}").exists()


PARENT = """
import gc, json, os, sys, threading
reads = []
class Watched(type(os.environ)):
    def __getitem__(self, name):
        reads.append(name)
        return super().__getitem__(name)
os.environ.__class__ = Watched
sys.path.insert(0, sys.argv[1])
from local.emulator.processes.parent_process import imports, sharing
imports.import_libraries()
sharing.rehearse()
reads.clear()
imports.import_layers([sys.argv[2]])
import botocore.client, botocore.credentials, boto3.session, botocore.session
gc.collect()
kinds = (botocore.client.BaseClient, botocore.credentials.Credentials, boto3.session.Session, botocore.session.Session)
print(json.dumps({"reads": sorted(set(reads)), "threads": threading.active_count(), "layer": "delayer.wiring.use_cases"
    in sys.modules, "left": [str(type(one)) for one in gc.get_objects() if isinstance(one, kinds)]}))
"""


def test_a_parent_holds_nothing_that_is_of_a_function(tmp_path: Path) -> None:
    """No client, no session, no keys, no thread; and no module of the layer has read a variable of the template.

    It takes a second or two: a process imports what parents do.
    """
    (tmp_path / "python").symlink_to(ROOT / "shared")
    command = [sys.executable, "-c", PARENT, str(ROOT), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]})
    found = json.loads(done.stdout)
    assert found["layer"], "the layer was not imported"
    template = (ROOT / "template.yaml").read_text()
    assert [name for name in found["reads"] if f"{name}:" in template] == []
    assert (found["threads"], found["left"]) == (1, [])


def test_what_was_written_is_read_once_also_after_the_log_was_emptied() -> None:
    """A function goes on writing where it was: without a word from the system, that would be behind a hole of zeros."""
    log = Log()
    writer = os.dup(log.file.fileno())
    try:
        for number in range(5):
            os.write(writer, b"x" * LARGEST_LOG + b"\n")
            assert log.new() == "x" * LARGEST_LOG
            os.write(writer, f"line {number}\n".encode())
            assert log.new() == f"line {number}"
            assert log.new() == ""
        assert os.fstat(writer).st_size < LARGEST_LOG
    finally:
        os.close(writer)
        log.file.close()
