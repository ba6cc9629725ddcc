"""Files on record: JSON that a person reads, the same for the same content; and what has changed since."""

import difflib
import json
from pathlib import Path
from typing import Any, Final

from tests.cfn import ROOT

FOLDER: Final = ROOT / "tests/golden"
WRITE_ANEW: Final = "make frozen"
WIDTH: Final = 120  # what fits into a line stays in one
MOST_LINES: Final = 60  # of a difference; the first ones tell


def text_of(value: object) -> str:
    """As it is on file."""
    return f"{_written(value, 0, 0)}\n"


def _written(value: Any, depth: int, before: int) -> str:
    """`before`: characters that stand on its line already. Keys are sorted."""
    short = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if before + len(short) < WIDTH or not value or not isinstance(value, dict | list):
        return short
    inner = " " * (depth + 1)
    if isinstance(value, dict):
        names = {name: f"{json.dumps(name, ensure_ascii=False)}: " for name in sorted(value)}
        parts = [key + _written(value[name], depth + 1, depth + 1 + len(key)) for name, key in names.items()]
    else:
        parts = [_written(one, depth + 1, depth + 1) for one in value]
    begins, ends = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return f"{begins}\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * depth}{ends}"


def difference(on_file: str, now: str) -> str:
    """Line by line: `-` is on file, `+` is what the code says now."""
    lines = [*difflib.unified_diff(on_file.splitlines(), now.splitlines(), "on file", "now", lineterm="", n=3)]
    more = [f"… and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])


def read(path: Path) -> str:
    """Nothing, if it is not there yet."""
    return path.read_text(encoding="utf-8") if path.exists() else ""
