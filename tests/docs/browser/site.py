"""The documentation as `make docs` builds it: once for all tests of a run, also if they run side by side."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.cfn import ROOT

BUILT = "built.txt"


def built(factory: pytest.TempPathFactory) -> Path:
    """Its folder. The processes of pytest-xdist have folders of their own in one that they share."""
    own = factory.getbasetemp()
    return _built(own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own)


@cache
def _built(shared: Path) -> Path:
    folder, done = shared / "site", shared / BUILT
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
            made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
            assert made.returncode == 0, made.stdout + made.stderr
            done.touch()
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """What is missing is seen by the browser."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def addresses(folder: Path) -> list[str]:
    """Of all pages, such as `/use/api/`; the error page is `/404.html`."""
    indexes = sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob("index.html"))
    return ["/404.html", *("/" if path == "." else f"/{path}/" for path in indexes)]
