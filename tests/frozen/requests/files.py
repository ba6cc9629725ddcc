"""The requests of all adapters, by the file that they are in."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.contract.aws_calls import PORTS
from tests.frozen.files import FOLDER, text_of
from tests.frozen.recorded import Requests, Subject
from tests.frozen.requests import journal, messaging, owners, registry, series, tables

SUBJECTS: Final = (
    *tables.SUBJECTS,
    *registry.SUBJECTS,
    *journal.SUBJECTS,
    *owners.SUBJECTS,
    *series.SUBJECTS,
    *messaging.SUBJECTS,
)
REQUESTS: Final = FOLDER / "requests"


def file_of(subject: Subject) -> Path:
    """It is named by the port: `requests/schedule-table.json`. Whoever asks for the same has the same file."""
    words = re.findall("[A-Z][a-z]*", port_of(subject))
    return REQUESTS / f"{'-'.join(words).lower()}.json"


def port_of(subject: Subject) -> str:
    """The cases are named by the port: an adapter may be renamed, and then asks for the same."""
    return PORTS[subject.adapter].__name__


@cache
def requests_of(subject: Subject) -> dict[str, Requests]:
    """By the method of the port and what is special about the case."""
    return {f"{port_of(subject)}.{name}": subject.requests(name) for name in subject.cases}


def all_files() -> Iterator[tuple[Path, str]]:
    """Each file with its text, as the code has it now."""
    for subject in SUBJECTS:
        yield file_of(subject), text_of(requests_of(subject))
