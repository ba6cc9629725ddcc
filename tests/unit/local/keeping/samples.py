"""Saved states and killed runs."""

from pathlib import Path
from typing import Any

from local.keeping.manifest import Manifest
from local.keeping.marker import Killed, Marker
from local.keeping.saved import write

CONTENTS: dict[str, Any] = {"records": {"bucket": {"b": {"objects": {"k": {"body": b"\x00\xff"}}}}}, "streams": []}


def manifest(**fields: Any) -> Manifest:
    given = {"emulator": "1.5.33", "run": "before", "saved_at": 1_000, "port": 8080, "stack": "abc", "waiting": 12}
    return Manifest(**{**given, **fields})


def save(folder: Path, **fields: Any) -> Manifest:
    return write(folder, manifest(**fields), CONTENTS)


def killed(run: str = "killed") -> Killed:
    return Killed(marker=Marker(run=run, pid=1, began_at=2_000), alive_at=3_000)
