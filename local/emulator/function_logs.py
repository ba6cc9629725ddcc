"""One log file per function: what each invocation wrote, and the error with which it ended."""

import threading
from pathlib import Path


class FunctionLogs:
    """Appends to `<folder>/<function name>.log`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.Lock()

    def write(self, function: str, lines: str, error: str) -> None:
        """Append the lines of one invocation; nothing for an empty log without an error."""
        text = "\n".join(filter(None, [lines.rstrip(), error and f"FAILED: {error}"]))
        if text:
            with self.lock, (self.folder / f"{function}.log").open("a", encoding="utf-8") as file:
                file.write(text + "\n")
