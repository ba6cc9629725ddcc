"""The lists of changes as files: one change a line, so that a diff shows what was added or explained."""

import json
from pathlib import Path
from typing import Final

from attrs import asdict

from tests.defects.change import Change

FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parents[1]


def read(name: str) -> list[Change]:
    """The list of this name."""
    return [Change(**change) for change in json.loads((FOLDER / f"{name}.json").read_text())]


def write(name: str, changes: list[Change]) -> None:
    """Writes it anew."""
    lines = [
        json.dumps({key: value for key, value in asdict(one).items() if value not in ("", 0) or key == "after"})
        for one in changes
    ]
    (FOLDER / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
