"""The requests of all adapters, by the file that they are in."""

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
    """It is named like the adapter's module: `requests/dynamodb/ledger.json`."""
    return REQUESTS.joinpath(*subject.adapter.__module__.split(".")[2:]).with_suffix(".json")


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
