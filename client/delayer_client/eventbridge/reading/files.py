"""Reads files of what `aws` has printed."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from delayer_client.eventbridge.reading.documents import KNOWN, Collecting
from delayer_client.eventbridge.reading.sources import Found, ReadingError

_PREFIXES: Final = ("list-targets-by-rule-", "targets-")
_SUFFIXES: Final = (".targets", "-targets")


def read_files(paths: Iterable[Path | str]) -> Found:
    """Of files, and of folders with files that end with `.json`. A file may hold several documents, or a list of them.

    Raises ReadingError with the name of the file and the place in it.
    """
    collecting = Collecting()
    for path in _files(Path(one) for one in paths):
        for number, document in enumerate(_documents(path)):
            where = str(path) if number == 0 else f"{path}, document {number + 1}"
            collecting.add(document, where, rule_of(path))
    return collecting.found()


def rule_of(path: Path) -> str:
    """The rule of a file with targets, by its name: `nightly.json`, `nightly.targets.json`, `targets-nightly.json`."""
    name = path.stem
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob("*.json"))
        if not found:
            raise ReadingError(f"{path}: no file in this folder ends with .json. Put there what these print: {KNOWN}")
        yield from found


def _documents(path: Path) -> Iterator[Any]:
    """One after the other, as a loop over `aws scheduler get-schedule` prints them."""
    text = _text(path)
    if not text.strip():
        raise ReadingError(f"{path}: it is empty. It has to be what one of these prints: {KNOWN}")
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        try:
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ReadingError(f"{path}: not JSON: {error}. Print it with --output json.") from error
        yield from value if isinstance(value, list) else [value]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadingError(f"{path}: cannot be read: {error}") from error
