"""An attempt in a process of its own: what it answers, what kills it, and what is no proof."""

import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from attrs import define, evolve, field

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Done, Retry
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.secrets import KeyRing
from delayer.schedule.instants import Malformed
from delayer.schedule.messages import ExecutorMessage
from delayer.serve.beside.extensions import extensions_in
from delayer.serve.suspects import suspect
from delayer.serve.suspects.suspect import Children, SuspectOrder, sendable
from delayer.serve.turns.lead import Leader
from delayer.serve.turns.machine import LAYOUT
from delayer.serve.turns.parts import Chosen
from delayer_client.testing.stack import SETTINGS, Observer
from tests import samples

DEADLY = (sys.executable, str(Path(__file__).with_name("deadly.py")))


@define
class Heard:
    lines: list[Any] = field(factory=list)

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        self.lines.append((event, schedule_id, facts))


class Rows:
    def get(self, table: str, key: dict[str, str]) -> dict[str, str]:
        return {"table": table, **key}

    def write(self, _: object) -> None:
        raise Unavailable("refused")


def message(what: str) -> ExecutorMessage:
    made = samples.an_executor_message()
    definition = evolve(made.schedule.definition, payload=f'"{what}"')
    return evolve(made, schedule=evolve(made.schedule, definition=definition))


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def children(heard: Heard, pauses: list[float]) -> Children:
    return Children(
        ports={"items": Rows(), "secrets": None, "seal": None, "observer": heard},
        settings=SETTINGS,
        chosen=Chosen(),
        command=DEADLY,
        pause=pauses.append,
    )


def test_its_result_is_that_of_the_target_whatever_that_prints(children: Children) -> None:
    """It takes a second: a process is begun, and Delayer imported."""
    assert children("deadly", message("work"), 5) == Done("done: work")


@pytest.mark.parametrize(("what", "how"), [("crash", "signal 11"), ("exit", "exit status 0")])
def test_what_kills_its_process_three_times_is_given_up(
    children: Children, pauses: list[float], what: str, how: str
) -> None:
    """It takes two seconds: three processes are begun."""
    with pytest.raises(Malformed, match=f"ended its process 3 times, in which nothing else was done: {how}"):
        children("deadly", message(what), 5)
    assert pauses == [suspect.BETWEEN] * 2


def test_what_takes_too_long_is_ended_and_is_a_failed_attempt(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a second."""
    monkeypatch.setattr(suspect, "GRACE", 0.3)
    assert children("deadly", message("hang"), 0.2) == Retry(detail="it took longer than 0.2 s", is_outage=True)


def test_a_process_that_somebody_ends_is_no_proof(children: Children) -> None:
    """It takes a second: a service manager may end all processes of the engine."""
    with pytest.raises(NotAttempted, match="somebody has ended its process: signal 15"):
        children("deadly", message("terminated"), 5)


def test_a_process_that_cannot_begin_is_no_proof(children: Children, tmp_path: Path) -> None:
    """It takes a second: a deployment may be broken, or there may be no memory for another process."""
    for command in ((*DEADLY, "broken"), (str(tmp_path / "none"),), (sys.executable, "-c", "pass")):
        own = evolve(children, command=command)
        with pytest.raises(NotAttempted, match="process for it"):
            own("deadly", message("work"), 5)


def test_what_a_target_raises_is_a_failed_attempt_as_ever(children: Children, heard: Heard) -> None:
    """It takes two seconds: three processes are begun."""
    made = children("deadly", message("raise"), 5)
    assert made == Retry(detail="the executor failed: ValueError", reached=False)
    assert children("deadly", message("leave"), 5) == Retry(detail="the executor failed: SystemExit", reached=False)
    assert [line for line, *_ in heard.lines] == ["the target raised"] * 2
    with pytest.raises(NotAttempted, match="not now"):
        children("deadly", message("not now"), 5)


def test_it_asks_its_parent_for_rows(children: Children, heard: Heard) -> None:
    """It takes two processes."""
    assert children("deadly", message("row"), 5) == Done("{'table': 'control', 'id': '1'}")
    assert heard.lines == [("a line", "an id", {"value": 1})]
    made = children("deadly", message("refused"), 5)
    assert made == Retry(detail="the executor failed: Unavailable", reached=False)


def test_an_error_that_cannot_be_sent_is_sent_as_another_one() -> None:
    class Local(Exception):
        pass

    assert isinstance(sendable(Local("a")), Unavailable)
    assert isinstance(sendable(KeyError("a")), KeyError)


def test_it_ends_with_its_parent(children: Children) -> None:
    """It takes a second."""
    order = SuspectOrder(kind="deadly", message=message("hang"), settings=SETTINGS, chosen=Chosen())
    child = suspect.ChildProcess(order, DEADLY)
    child.begin()
    child.pipe.send(suspect.Cue.BEGIN)
    child.pipe.sink.close()
    assert child.process.wait(timeout=5) == 0


class Target(BaseHTTPRequestHandler):
    """Answers all, and keeps their headers."""

    seen: ClassVar[list[dict[str, str]]] = []

    def do_POST(self) -> None:
        self.seen.append({name.lower(): value for name, value in self.headers.items()})
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def url() -> Any:
    server = HTTPServer(("127.0.0.1", 0), Target)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook"
    server.shutdown()
    server.server_close()


def test_a_suspect_is_attempted_by_delayers_own_executor_signed_as_ever(tmp_path: Path, url: str) -> None:
    """It takes a second: the real child, with the rows of a real database at its parent."""
    from tests.unit.serve.world import START, World

    world = World(path=str(tmp_path / "a.db"))
    machine = world.machine
    machine.alone = Children(
        ports={
            "items": machine.items,
            "secrets": machine.around.secrets,
            "seal": machine.around.seal,
            "observer": world.observer,
        },
        settings=SETTINGS,
        chosen=machine.chosen,
    )
    action = {"type": "http-request", "url": url}
    one = world.post(START, action=action)
    world.clock.at = START + 1
    machine.turn()
    [(number,)] = machine.database.read("SELECT number FROM messages", ())
    machine.database.write("INSERT INTO notes VALUES (?, 0, 2)", (number,))
    world = evolve_alone(world)
    world.settle()
    assert world.state(one) == "executed"
    [headers] = Target.seen
    assert headers["idempotency-key"] == one
    assert "webhook-signature" in headers
    assert world.reached == []


def evolve_alone(world: Any) -> Any:
    """Its next life, with the same way to attempt suspects."""
    following = world.next_life()
    machine = following.machine
    alone = world.machine.alone
    own = {"items": machine.items, "seal": machine.around.seal, "observer": following.observer}
    machine.alone = evolve(alone, ports={**alone.ports, **own})
    return following


OWN = '''
import os
from delayer.extension.executor import Action, Done, Message, Result, executor

class Weigh(Action):
    """It says where it runs."""
    name: str

@executor("weigh")
def handler(message: Message[Weigh]) -> Result:
    return Done(f"{message.action.name} by {os.getpid()}")
'''


def test_a_suspect_of_a_folder_of_actions_is_attempted_by_its_own_code(tmp_path: Path) -> None:
    """It takes a second: the child loads the folder as the engine has."""
    (tmp_path / "weigh").mkdir()
    (tmp_path / "weigh/app.py").write_text(OWN)
    extensions = extensions_in([tmp_path])
    ports = {"items": Rows(), "secrets": None, "seal": None, "observer": Heard()}
    keys = KeyRing(keys=(b"k" * 32,))
    leader = Leader(
        database=Database(layout=LAYOUT), observer=Observer(), environment=SETTINGS, keys=keys, extensions=extensions
    )
    children = leader.machine.alone
    assert isinstance(children, Children)
    children = evolve(children, ports=ports)
    made = samples.an_executor_message()
    definition = evolve(made.schedule.definition, action='{"type": "weigh", "name": "five"}')
    own = evolve(made, schedule=evolve(made.schedule, definition=definition))
    outcome = children("weigh", own, 30)
    assert isinstance(outcome, Done)
    leader.start()
    leader.stop()
    name, _, pid = str(outcome.detail).partition(" by ")
    assert (name, pid.isdigit(), int(pid) != os.getpid()) == ("five", True, True)
