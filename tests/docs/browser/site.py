"""The documentation as `make docs` builds it: once for all tests of a run, also if they run side by side."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from tests.browser.accessibility import AXE
from tests.cfn import ROOT

BUILT = "built.txt"
AXE_OF_THE_SITE = "/axe.min.js"
# Each page builds the index of the search when it is opened, which takes longer than all of its checks. Here it knows
# no page, and its worker does nothing.
EMPTY = json.dumps({"config": {"lang": ["en"], "separator": " ", "pipeline": [], "fields": {}}, "docs": []})


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
            build(folder)
            done.touch()
    return folder


def build(folder: Path, **variables: str) -> Path:
    """Strictly, with these variables of the workflow that publishes it. With --quiet, no warning would count."""
    known = {name: value for name, value in os.environ.items() if name not in ("SITE_URL", "REPO_URL", "REPO_REF")}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    made = subprocess.run(
        command, cwd=ROOT, env={**known, **variables}, capture_output=True, text=True, check=False, timeout=900
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    instead: ClassVar[Mapping[str, str]] = {AXE_OF_THE_SITE: AXE}  # beside the files, or in the place of one

    def do_GET(self) -> None:
        text = next((text for path, text in self.instead.items() if self.path.startswith(path)), None)
        if text is None:
            super().do_GET()
            return
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        """The browser keeps the files of the theme, compiled: each page has the same ones."""
        if self.path.endswith((".js", ".css", ".png", ".svg")):
            self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, *args: Any) -> None:
        """What is missing is seen by the browser."""


class _QuickToOpen(_Quiet):
    instead: ClassVar[Mapping[str, str]] = {
        **_Quiet.instead,
        "/search/search_index.json": EMPTY,
        "/assets/javascripts/workers/search.": "",
    }


@contextmanager
def served(folder: Path, *, search: bool = True) -> Iterator[str]:
    """Its address, with axe-core beside it. Without the search, a page is open sooner."""
    handler = _Quiet if search else _QuickToOpen
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def addresses(folder: Path) -> list[str]:
    """Of all pages, such as `/use/api/`; the error page is `/404.html`."""
    indexes = sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob("index.html"))
    return ["/404.html", *("/" if path == "." else f"/{path}/" for path in indexes)]
