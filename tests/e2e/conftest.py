"""A test says by the name of its first argument where it runs: `client` is of an engine, `on_aws` of a stack.

| argument | what answers | which tests |
|---|---|---|
| `client` | the process of `delayer serve` | promises, API, client, command line, console, pages |
| `on_aws` | `template.yaml` on the emulator | those about AWS: roles, tables, queues, logs, metrics, targets |
| `outages`, or a `stack` of a module | another stack | what a whole stack suffers, its parameters, its updates |

In test_on_aws.py the stack has to do some of what the engine has done, so that its functions are seen to have their
rights.

Each process of a run has one engine, which starts in a second. All of them share one stack; a test has its own owner,
queue and bus there. A process of its own holds a stack: it is started when the tests have been collected, and by the
time when one of them needs it, others have run.
"""

import uuid
from collections.abc import Generator, Iterator
from contextlib import closing

import pytest

from local.receiver import Receiver
from local.stack.running_stack import RunningStack
from tests.e2e.client import EngineClient, StackClient
from tests.e2e.engine import RunningEngine
from tests.e2e.stacks.attaching import Run, Shared
from tests.e2e.stacks.function_errors import MOST_LINES, Meanwhile
from tests.e2e.stacks.kinds import MAIN, OUTAGES

RUN = pytest.StashKey[Run]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Starts what will be needed. Each fixture of a shared stack has its name."""
    config = session.config
    needed = {name for item in session.items for name in (MAIN, OUTAGES) if name in getattr(item, "fixturenames", ())}
    if needed and not config.option.collectonly:
        of_xdist = getattr(config, "workerinput", {})
        config.stash[RUN] = Run.join(of_xdist.get("testrunuid", uuid.uuid4().hex))
        config.stash[RUN].begin(sorted(needed))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """A test that fails shows what its engine has said, and what failed in the functions of its stacks."""
    given = list(getattr(item, "funcargs", {}).values())
    engines = [(one, len(one.lines)) for one in given if isinstance(one, RunningEngine)]
    stacks = [one.stack for one in given if isinstance(one, Shared)] + [
        one for one in given if isinstance(one, RunningStack)
    ]
    meanwhile = [Meanwhile(stack.folder / "logs") for stack in stacks]
    try:
        return (yield)
    except BaseException:
        for each in meanwhile:
            item.add_report_section("call", "functions", each.failures())
        for engine, before in engines:
            item.add_report_section("call", "engine", "".join(engine.lines[before:][-MOST_LINES:]))
        raise


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """The target of the http-request actions of this process's tests."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def receiver_on_aws() -> Iterator[Receiver]:
    """Another one, for the stack: a test that runs there, too, has the same paths."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningEngine]:
    """The engine that the tests of this process have in common."""
    with RunningEngine(tmp_path_factory.mktemp("engine") / "data") as engine:
        yield engine


@pytest.fixture(scope="session")
def main(pytestconfig: pytest.Config) -> Shared:
    """The stack that all tests of the run have in common."""
    return pytestconfig.stash[RUN].attach(MAIN)


@pytest.fixture(scope="session")
def outages(pytestconfig: pytest.Config) -> Shared:
    """Another one, whose minute task is off at first: what is done to it would harm other tests."""
    return pytestconfig.stash[RUN].attach(OUTAGES)


@pytest.fixture(scope="module")
def client(engine: RunningEngine, receiver: Receiver, request: pytest.FixtureRequest) -> Iterator[EngineClient]:
    """A client of the engine, as an owner of this module alone."""
    with closing(EngineClient(engine, receiver, owner_of(request))) as client:
        yield client


@pytest.fixture(scope="module")
def on_aws(main: Shared, receiver_on_aws: Receiver, request: pytest.FixtureRequest) -> Iterator[StackClient]:
    """A client of the common stack, as an owner of this module alone."""
    with closing(StackClient(main.stack, receiver_on_aws, owner_of(request))) as client:
        yield client


def owner_of(request: pytest.FixtureRequest) -> str:
    """Such as `e2e-test-firing`."""
    return f"e2e-{request.path.stem}".replace("_", "-")
