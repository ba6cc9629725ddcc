"""One log file per function: what each invocation wrote, and the error with which it ended."""

import threading
from pathlib import Path
from typing import IO


class FunctionLogs:
    """Appends to `<folder>/<function name>.log`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.Lock()
        self.files: dict[str, IO[str]] = {}

    def write(self, function: str, lines: str, error: str) -> None:
        """Append the lines of one invocation; nothing for an empty log without an error."""
        text = "\n".join(filter(None, [lines.rstrip(), error and f"FAILED: {error}"]))
        if text:
            with self.lock:
                file = self.files.get(function) or self.opened(function)
                file.write(text + "\n")
                file.flush()

    def opened(self, function: str) -> IO[str]:
        """The file of a function, which stays open: some functions write thousands of times a minute."""
        self.files[function] = (self.folder / f"{function}.log").open("a", encoding="utf-8")
        return self.files[function]
