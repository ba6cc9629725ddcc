"""The tests of a run share one stack on the embedded AWS; a test has its own owner, queue and bus on it.

A second one is for what a whole stack suffers. A process of its own holds each: it is started when the tests have been
collected, and by the time when one of them needs it, others have run.
"""

import uuid
from collections.abc import Generator, Iterator
from contextlib import closing

import pytest

from local.receiver import Receiver
from local.stack.running_stack import RunningStack
from tests.e2e.client import Client
from tests.e2e.stacks.attaching import Run, Shared
from tests.e2e.stacks.function_errors import Meanwhile
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
    """A test that fails shows what failed in the functions of the stacks that it is given."""
    given = getattr(item, "funcargs", {}).values()
    stacks = [one.stack for one in given if isinstance(one, Shared)] + [
        one for one in given if isinstance(one, RunningStack)
    ]
    meanwhile = [Meanwhile(stack.folder / "logs") for stack in stacks]
    try:
        return (yield)
    except BaseException:
        for each in meanwhile:
            item.add_report_section("call", "functions", each.failures())
        raise


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """The target of the http-request actions of this process's tests."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def main(pytestconfig: pytest.Config) -> Shared:
    """The stack that all tests of the run have in common."""
    return pytestconfig.stash[RUN].attach(MAIN)


@pytest.fixture(scope="session")
def outages(pytestconfig: pytest.Config) -> Shared:
    """Another one, whose minute task is off at first: what is done to it would harm other tests."""
    return pytestconfig.stash[RUN].attach(OUTAGES)


@pytest.fixture(scope="module")
def client(main: Shared, receiver: Receiver, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of the common stack, as an owner of this module alone."""
    with closing(Client(main.stack, receiver, owner_of(request))) as client:
        yield client


def owner_of(request: pytest.FixtureRequest) -> str:
    """Such as `e2e-test-firing`."""
    return f"e2e-{request.path.stem}".replace("_", "-")
