"""Folders of `--actions`: what is loaded runs as what is built in does, and what is wrong ends in a clear sentence."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from delayer.engines.ports import Outgoing
from delayer.engines.sqlite.queue import SqliteQueue
from delayer.extension.subscriber import subscriber
from delayer.schedule.instants import DAY, MINUTE, Millis
from delayer.serve.beside import extensions as folders
from delayer.serve.beside.extensions import CALL_AWS, absent_in, aws_settings, extensions_in
from delayer.serve.refusal import Refusal
from delayer_client.scaffold import FILES
from tests.cfn import ROOT
from tests.unit.serve.machines import Running

ACTION = '''
from delayer.extension.executor import Action, Done, Message, Result, executor
from mine import WORD

class Greet(Action):
    """It greets."""
    name: str

@executor("greet")
def handler(message: Message[Greet]) -> Result:
    return Done(f"{WORD}, {message.action.name}")
'''
POLICY = '''
from delayer.extension.policy import HOUR, Asked, At, Chosen, Policy, policy

class NextFullHour(Policy):
    """The next full hour."""

@policy("next-full-hour")
def handler(asked: Asked[NextFullHour]) -> Chosen:
    return At(-(-asked.now // HOUR) * HOUR)
'''
SUBSCRIBER = """
from delayer.extension.subscriber import Event, subscriber

read = []
broken = []

@subscriber("reads", events=["executed", "failed"])
def handler(event: Event) -> None:
    read.append(event)
    if broken:
        raise SystemExit("it ends the process")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "my-actions"


def write(folder: Path, apps: Mapping[str, str]) -> Path:
    for name, text in apps.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "app.py").write_text(text)
    return folder


@pytest.mark.parametrize("name", ["executor-greet", "greet"])
def test_an_action_is_offered_and_runs(folder: Path, name: str) -> None:
    write(folder, {name: ACTION})
    (folder / name / "mine.py").write_text('WORD = "Hello"')
    running = Running(extensions=extensions_in([folder]), targets=None)
    status, problem = running.call("POST", "/schedules", {"delaySeconds": 1, "action": {"type": "greet"}})
    assert (status, problem["errors"][0]["field"]) == (422, "action.name")
    schedule = running.schedule(action={"type": "greet", "name": "World"})
    running.settle()
    assert running.call("GET", f"/schedules/{schedule}")[1]["detail"] == "Hello, World"
    assert "greet" in str(running.call("GET", "/actions"))


def test_an_action_whose_folder_is_gone_is_not_offered_any_more(folder: Path) -> None:
    write(folder, {"executor-greet": ACTION.replace("from mine import WORD", 'WORD = "Hello"')})
    running = Running(extensions=extensions_in([folder]))
    schedule = running.schedule(60, action={"type": "greet", "name": "World"})
    running.settle()
    later = Running(running.database, running.clock.now())
    status, problem = later.call("POST", "/schedules", {"delaySeconds": 1, "action": {"type": "greet", "name": "x"}})
    assert (status, problem["errors"][0]["field"]) == (422, "action.type")
    later.run(5 * MINUTE)
    assert later.call("GET", f"/schedules/{schedule}")[1]["state"] == "enqueued"
    back = Running(running.database, later.clock.now(), extensions=extensions_in([folder]), targets=None)
    back.run(5 * MINUTE)
    assert back.call("GET", f"/schedules/{schedule}")[1]["state"] == "executed"


def test_a_policy_decides(folder: Path) -> None:
    running = Running(extensions=extensions_in([write(folder, {"policy-next-full-hour": POLICY})]))
    body = {"when": {"policy": "next-full-hour"}, "action": {"type": "http-request", "url": "https://example.com/"}}
    status, shown = running.call("POST", "/schedules", body)
    assert status == 201, shown
    running.run(2 * 60 * MINUTE)
    assert "decided" in str(running.call("GET", f"/schedules/{shown['scheduleId']}"))
    wrong = {**body, "when": {"policy": "next-full-hour", "surplus": 1}}
    assert running.call("POST", "/schedules", wrong)[0] == 422
    assert Running().call("POST", "/schedules", body)[0] == 422


def test_a_subscriber_gets_its_events_and_harms_nobody(folder: Path) -> None:
    extensions = extensions_in([write(folder, {"subscriber-reads": SUBSCRIBER})])
    module = extensions.handlers["subscriber-reads"]
    running = Running(extensions=extensions)
    first = running.schedule(10)
    running.run(MINUTE)
    assert [(one.type, one.schedule_id) for one in module.read] == [("executed", first)]
    module.broken.append(1)
    second = running.schedule(10)
    running.run(MINUTE)
    assert running.call("GET", f"/schedules/{second}")[1]["state"] == "executed"
    assert 4 <= [one.schedule_id for one in module.read].count(second) <= 8
    later = Running(running.database, running.clock.now(), extensions=extensions)
    module.broken.clear()
    module.read.clear()
    later.run(5 * MINUTE)
    assert [one.schedule_id for one in module.read] == [second]
    assert len(running.machine.queue("subscriber-reads").messages) == 0


def test_an_event_that_is_never_taken_is_a_dead_letter_after_a_day(folder: Path) -> None:
    extensions = extensions_in([write(folder, {"subscriber-reads": SUBSCRIBER})])
    extensions.handlers["subscriber-reads"].broken.append(1)
    running = Running(extensions=extensions)
    running.schedule(10)
    running.run(DAY - MINUTE)
    assert running.objects.list("feed/", "", 10) == []
    running.run(10 * MINUTE)
    [key] = running.objects.list("feed/", "", 10)
    assert key.startswith("feed/subscriber-reads/")
    assert not running.machine.queue("subscriber-reads").messages


def test_what_cannot_be_settled_is_tried_later_each_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn for each try at once would take a processor."""
    tries: list[Millis] = []
    extensions = extensions_in([write(folder, {"subscriber-reads": SUBSCRIBER})])
    running = Running(extensions=extensions)
    queue = running.machine.queue("subscriber-reads")
    settle = type(queue).settle

    def fails(self: SqliteQueue, *given: Any) -> None:
        if self is queue and len(tries) < 5:
            tries.append(running.clock.now())
            raise ZeroDivisionError
        settle(self, *given)

    monkeypatch.setattr(type(queue), "settle", fails)
    running.schedule(10)
    running.run(MINUTE)
    assert [after - before for before, after in pairwise(tries)] == [1_000, 2_000, 4_000, 8_000]
    assert len(extensions.handlers["subscriber-reads"].read) == 1, "once"
    assert not queue.messages


@pytest.mark.parametrize("kind", ["executor", "policy", "subscriber"])
def test_the_folder_that_the_project_makes_is_loaded(folder: Path, kind: str) -> None:
    text = (FILES / kind / "app.py.txt").read_text().replace("$name", "big-spenders").replace("$Class", "BigSpenders")
    assert [*extensions_in([write(folder, {f"{kind}-big-spenders": text})]).handlers] == [f"{kind}-big-spenders"]


def test_the_subscriber_that_is_shipped_is_loaded(folder: Path) -> None:
    text = (ROOT / "functions/subscriber-failed-webhook/app.py").read_text()
    assert extensions_in([write(folder, {"subscriber-failed-webhook": text})]).subscribers


def _nothing(folder: Path) -> None:
    folder.mkdir()


REFUSED: dict[str, tuple[Callable[[Path], object] | Mapping[str, str], str]] = {
    "no folder": ({}, "There is no such folder of --actions"),
    "empty": (_nothing, "There is nothing in the folder of --actions"),
    "itself": ({".": ACTION}, "is itself an action"),
    "no app": (lambda folder: (folder / "executor-x").mkdir(parents=True), "There is no app.py in executor-x"),
    "no handler": ({"executor-x": "1"}, 'it has no handler .*Write @executor\\("x"\\)'),
    "no executor": ({"executor-x": "handler = 1"}, "its handler is none"),
    "package": (
        {"executor-x": "import nobody_has_this"},
        "No module named .*line 1.*Install the package that has nobody",
    ),
    "syntax": ({"executor-x": "x = 1\nhandler = ("}, "SyntaxError: .*app.py, line 2"),
    "raises": ({"executor-x": "x = 1\n1 / 0"}, "ZeroDivisionError: .*app.py, line 2"),
    "setting": (
        {"executor-x": "from delayer.extension.executor import setting\nsetting('NOT_THERE')"},
        "NOT_THERE is missing.*app.py, line 2",
    ),
    "built-in": ({"executor-http-request": ACTION}, "There is a built-in action http-request"),
    "built-in policy": ({"policy-spread": POLICY}, "There is a built-in policy spread"),
    "name": ({"executor-Greet_Me": ACTION}, "'Greet_Me' cannot be a name"),
    "other name": ({"policy-other": POLICY}, "The folder says other, and its handler next-full-hour"),
    "events": ({"subscriber-reads": SUBSCRIBER.replace("failed", "fialed")}, "'fialed' is not a valid EventType"),
    "secret": (
        {
            "policy-next-full-hour": POLICY.replace('hour."""', 'hour."""\n    key: Secret = ""', 1)
            .replace("import HOUR", "import Meta, HOUR", 1)
            .replace(
                "class Next",
                "from typing import Annotated\n"
                "Secret = Annotated[str, Meta(extra_json_schema={'writeOnly': True})]\nclass Next",
                1,
            )
        },
        "has a secret",
    ),
}


@pytest.mark.parametrize("case", [*REFUSED])
def test_what_is_wrong_is_said(folder: Path, case: str) -> None:
    made, sentence = REFUSED[case]
    if callable(made):
        made(folder)
    else:
        write(folder, made)
    with pytest.raises(Refusal, match=sentence) as refused:
        extensions_in([folder])
    assert refused.value.status == 2
    assert "Traceback" not in str(refused.value)


def test_two_of_a_name_are_refused(tmp_path: Path) -> None:
    one, other = (
        write(tmp_path / "a", {"subscriber-reads": SUBSCRIBER}),
        write(tmp_path / "b", {"subscriber-reads": SUBSCRIBER}),
    )
    with pytest.raises(Refusal, match="There are two of subscriber-reads"):
        extensions_in([one, other])


def test_what_no_event_is_called_is_refused() -> None:
    with pytest.raises(ValueError, match="fialed"):
        subscriber("x", events=["fialed"])


# ------------------------------------------------------------ built-in actions that call AWS


def test_these_actions_and_no_others_call_aws() -> None:
    apps = {path.parent.name.removeprefix("executor-"): path for path in ROOT.glob("functions/executor-*/app.py")}
    calls = {kind for kind, path in apps.items() if "delayer.targets.aws_call" in path.read_text()}
    assert calls == set(CALL_AWS)


def test_without_boto3_they_are_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "find_spec", lambda _: None)
    absent = absent_in({"AWS_REGION": "eu-west-1", "AWS_ACCOUNT_ID": "123456789012"})
    assert set(absent) == set(CALL_AWS)
    running = Running(absent=absent)
    body = {"delaySeconds": 1, "action": {"type": "sqs-send", "queueUrl": "https://x"}}
    status, problem = running.call("POST", "/schedules", body)
    assert status == 422
    [error] = problem["errors"]
    assert error["field"] == "action.type"
    assert "needs the package boto3 where the engine runs" in error["problem"]
    assert "sqs-send" not in error["allowed"]
    assert "sqs-send" not in str(running.call("GET", "/actions"))
    running.schedule()


def test_with_all_that_they_need_they_are_offered() -> None:
    environment = {"AWS_REGION": "eu-west-1", "AWS_ACCOUNT_ID": "123456789012"}
    assert absent_in(environment) == {}
    assert aws_settings(environment)["ACCOUNT"] == "123456789012"
    assert absent_in({})["sqs-send"].startswith("needs AWS_REGION and AWS_ACCOUNT_ID")
    assert aws_settings({}) == {}


def test_an_action_that_cannot_run_any_more_keeps_its_messages_and_the_engine(folder: Path) -> None:
    running = Running(targets=None)
    running.machine.queue("executor-sqs-send").send([Outgoing(body="{}")])
    running.machine.absent, running.machine.modules["executor-sqs-send"] = {"sqs-send": "needs boto3"}, None
    running.schedule(60)
    running.settle()
    assert [line[2]["why"] for line in running.warned("an action cannot run here: what was handed to it waits")] == [
        "needs boto3"
    ]
    assert len(running.machine.queue("executor-sqs-send").messages) == 1
