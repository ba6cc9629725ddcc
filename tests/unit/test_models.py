"""One style for models: attrs, frozen, keyword-only. What is otherwise is listed here with its reason."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from tests.running.of_each import of_each

SHARED = Path(__file__).parents[2] / "shared"
FAKES = ("delayer.engines.memory.",)

MUTABLE = {  # beside the fakes, which are the tables and queues of a test and change as those do
    "delayer.relay.claim_relaxed.Noted": "remembers when its execution environment last noted a pass",
    "delayer.accept.use_cases.issue.IdCheck": "remembers the keys that its execution environment has read",
    "delayer.accept.use_cases.issue.Ids": "raises the shards once in each execution environment",
    "delayer.owners.known.KnownOwnerPolicies": "remembers what its execution environment has read",
    "delayer.actions.registered.RegisteredActions": "remembers what its execution environment has read",
    "delayer.wiring.pump.Source": "remembers what it gave out, as the fakes do, and so do its kinds",
    "delayer.wiring.pump.QueueSource": "as Source",
    "delayer.wiring.pump.Minutes": "as Source",
    "delayer.wiring.pump.Pump": "its sources are put together as a test likes, and stopped",
    "delayer.wiring.executor.Spread": "drawn anew for each invocation",
    "delayer.flow.use_cases.view.BlocksInView": "remembers what its execution environment has read",
    "delayer.flow.use_cases.seats.HeldSeats": "counts the seats of its execution environment that are in use",
    "delayer.flow.use_cases.turns.Booking": "remembers how far its execution environment has seen lines booked",
    "delayer.flow.use_cases.turns.InLine": "is told its turn",
    "delayer.relay.relay.Successors": "remembers what its execution environment has read",
    "delayer.engines.aws.secrets.AesGcm": "remembers the key that its execution environment has read",
    "delayer.connections.credentials.Credentials": "remembers what its execution environment has read",
    "delayer.recovery.guard.Guard": "remembers when its execution environment last noted a pass",
    "delayer.enqueue.bring_back.BringBack": "remembers how far its execution environment came",
    "delayer.engines.aws.target_clients.Roles": "remembers the credentials of the roles that it has assumed",
    "delayer.targets.known.KnownTargets": "remembers which targets its execution environment has found",
    "delayer.targets.deadlines.Deadlines": "remembers which connections are open",
    "delayer.targets.http_connections.HttpConnection": "remembers what it has received and nobody has read",
    "delayer.engines.aws.clients._FreshConnections": "remembers when its connections were used",
    "delayer.engines.workers.WorkerThreads": "remembers what its threads do, and which of them it has left behind",
    "delayer.execute.desk.Chair": "is where its course is",
    "delayer.execute.desk.Desk": "remembers who waits for what",
    "delayer.execute.execute.Held": "is how far a message has come",
    "delayer.series.use_cases.step.KnownSeries": "remembers what its execution environment has read",
    "delayer.enqueue.enqueue.Sent": "remembers what its execution environment has sent",
    "delayer.signing.sign.Sign": "remembers the keys and rows that its execution environment has read",
    "delayer.dead_letters.commands.Pace": "knows whose turn is next",
    "delayer.dead_letters.commands.Tally": "counts",
    # The engine on one machine is a process that goes on.
    "delayer.engines.sqlite.again.SqliteAgain": "knows when what was set aside comes again",
    "delayer.engines.sqlite.counters.FeedCounters": "counts",
    "delayer.engines.sqlite.database.Database": "knows whose turn it is, and whether anything can be written",
    "delayer.engines.sqlite.database.Texts": "remembers what was written lately",
    "delayer.engines.sqlite.feed.SqliteFeed": "knows its newest changes, and how far its readers are",
    "delayer.engines.sqlite.queue.Numbers": "knows the last one",
    "delayer.engines.sqlite.queue.SqliteQueue": "knows who has which message",
    "delayer.serve.turns.attempts.Pool": "starts its threads as they are needed",
    "delayer.serve.turns.attempts.Attempts": "remembers what has ended",
    "delayer.serve.beside.beside.Beside": "remembers what is under way",
    "delayer.serve.beside.beside.ReadsQueue": "as Beside",
    "delayer.serve.beside.policies.AsksPolicy": "as Beside",
    "delayer.serve.turns.minutes.InPortions": "as Source",
    "delayer.serve.beside.events.PostsEvents": "as Beside",
    "delayer.serve.operators.control_socket.ControlSocket": "is open, or closed",
    "delayer.serve.turns.fire.HandedOver": "remembers what was handed over just now",
    "delayer.serve.turns.following.FeedSource": "as Source",
    "delayer.serve.turns.following.AgainSource": "as Source",
    "delayer.serve.turns.lead.Leader": "is stopped",
    "delayer.serve.lines.LogLines": "counts",
    "delayer.serve.suspects.lives.Lives": "knows what was noted",
    "delayer.serve.turns.machine.Machine": "makes its parts as they are needed",
    "delayer.serve.service.Ending": "counts the signals",
    "delayer.serve.data.space.Space": "remembers whether there was room",
    "delayer.serve.turns.turn.Turn": "holds the answers until the commit",
    "delayer.serve.data.upkeep.Upkeep": "remembers what it has done when",
}


ONE_IN_FRONT = {  # all but the first of their fields are keyword-only
    "delayer.actions.rules.model.Done": "authors of actions write Done('HTTP 200')",
    "delayer.actions.rules.model.Refused": "the same",
    "delayer.execute.desk.Until": "a course yields Until(at)",
    "delayer.execute.desk.Apart": "the same: Apart(do)",
}


def modules() -> Iterator[Any]:
    for path in sorted((SHARED / "delayer").rglob("*.py")):
        name = ".".join(path.relative_to(SHARED).with_suffix("").parts).removesuffix(".__init__")
        yield importlib.import_module(name)


def models() -> dict[str, type]:
    """All attrs classes, by their full names."""
    return {
        f"{module.__name__}.{name}": found
        for module in modules()
        for name, found in vars(module).items()
        if inspect.isclass(found) and attrs.has(found) and found.__module__ == module.__name__
    }


MODELS = models()


def is_frozen(model: type) -> bool:
    """As attrs makes it: a field cannot be set."""
    instance: object = object.__new__(model)
    try:
        setattr(instance, attrs.fields(model)[0].name, None)
    except attrs.exceptions.FrozenInstanceError:
        return True
    return False


def by_position(model: type) -> list[str]:
    return [one.name for one in attrs.fields(model) if one.init and not one.kw_only]


def test_there_are_models() -> None:
    """The search finds them."""
    assert len(MODELS) > 100
    assert "delayer.schedule.schedule.Definition" in MODELS


@of_each([name for name in MODELS if attrs.fields(MODELS[name])])
def test_each_is_frozen(name: str) -> None:
    """What was decided, read or received does not change in anybody's hands."""
    may_change = name in MUTABLE or name.startswith(FAKES)
    assert is_frozen(MODELS[name]) is not may_change


@of_each([name for name in MODELS if not name.startswith(FAKES)])
def test_each_is_keyword_only_but_for_one_field(name: str) -> None:
    """Two texts side by side are easily mistaken for each other (ADR 0174)."""
    given = [one.name for one in attrs.fields(MODELS[name]) if one.init]
    assert len(given) < 2 or len(by_position(MODELS[name])) == (name in ONE_IN_FRONT)


@of_each(sorted(MUTABLE))
def test_each_exception_is_there_and_has_its_reason(name: str) -> None:
    assert name in MODELS
    assert MUTABLE[name]


def test_no_other_kind_of_model() -> None:
    """No dataclasses, no named tuples: one library, one style. The words of the store alone are named tuples: each
    function imports them, and makes many; an attrs class takes five times as long to make.
    """
    others = {"dataclasses", "NamedTuple", "namedtuple", "pydantic"}
    paths = [path for path in sorted((SHARED / "delayer").rglob("*.py")) if path.parent.name != "store"]
    for path in paths:
        text = path.read_text()
        if not any(name in text for name in others):
            continue
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in nodes for alias in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        assert not names & others, path
