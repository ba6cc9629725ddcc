"""The server of these tests."""

import threading
from collections.abc import Iterator

import pytest

from tests.unit.targets.server import Handler, Server, status


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def server(running: Server) -> Server:
    running.requests, running.lines = [], []
    running.reply = status(204)
    return running
