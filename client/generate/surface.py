"""Writes `delayer_client/synchronous/` from its asynchronous twin: `python client/generate/surface.py [--check]`."""

import subprocess
import sys
import tempfile
from pathlib import Path

import unasync

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
SOURCE, TARGET = (ROOT / "client/delayer_client" / name for name in ("asynchronous", "synchronous"))
WORDS = {
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncConnections": "Connections",
    "AsyncDelayer": "Delayer",
    "AsyncHTTPTransport": "HTTPTransport",
    "AsyncGroups": "Groups",
    "AsyncSender": "Sender",
    "AsyncSeriesCalls": "SeriesCalls",
    "aclose": "close",
    "async_sleep": "sleep",
    "asynchronous": "synchronous",
}
PHRASES = {"Callable[[float], Coroutine[Any, Any, None]]": "Callable[[float], None]"}


def main() -> int:
    """0; 1 if `--check` finds that a file is not what the asynchronous one says."""
    stale = [name for name, text in generated().items() if not is_written(TARGET / name, text)]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(
                f"client/delayer_client/synchronous/{name} is not made from its twin; run: make contract",
                file=sys.stderr,
            )
        return int(bool(stale))
    for name, text in generated().items():
        (TARGET / name).write_text(text)
    return 0


def is_written(path: Path, text: str) -> bool:
    """Whether the file has this text."""
    return path.exists() and path.read_text() == text


def generated() -> dict[str, str]:
    """The text of each module by its name."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "asynchronous", Path(folder) / "synchronous"
        source.mkdir()
        paths = [path for path in SOURCE.glob("*.py") if path.name != "__init__.py"]
        for path in paths:
            text = path.read_text()
            for phrase, other in PHRASES.items():
                text = text.replace(phrase, other)
            (source / path.name).write_text(text)
        rule = unasync.Rule(f"{source}/", f"{target}/", WORDS)
        unasync.unasync_files([str(source / path.name) for path in paths], [rule])
        for path in target.glob("*.py"):
            text = path.read_text()
            for word, other in WORDS.items():
                text = text.replace(word, other)
            path.write_text(text)
        return {path.name: tidied(path.name, path.read_text()) for path in sorted(target.glob("*.py"))}


def tidied(name: str, text: str) -> str:
    """With sorted imports, formatted."""
    for command in (["check", "--fix", "--select=I,F401,UP028", "--unsafe-fixes", "--exit-zero"], ["format"]):
        options = ["--quiet", f"--stdin-filename={TARGET / name}", "-"]
        text = subprocess.run(
            [BIN / "ruff", *command, *options], input=text, cwd=ROOT, text=True, check=True, capture_output=True
        ).stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
