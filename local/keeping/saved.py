"""A saved state: one file of two lines, the manifest and the contents, that is there whole or not at all."""

import base64
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from local.errors import EmulatorError
from local.keeping.manifest import Manifest

FILE: Final = "saved.json"
UNFINISHED: Final = "saved.unfinished"
BYTES: Final = "__bytes__"  # marks what JSON has no form for
ESCAPED: Final = "__escaped__"  # marks what would be taken for one of the two marks


def write(folder: Path, manifest: Manifest, contents: dict[str, Any]) -> Manifest:
    """Put a state in the place of the one before, for its user alone; its manifest. A kill leaves one of the two."""
    body = written(contents)
    whole = evolve(manifest, digest=hashlib.sha256(body).hexdigest())
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / UNFINISHED
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(json.dumps(whole.written()).encode() + b"\n")
        file.write(body + b"\n")
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(folder / FILE)
    sync(folder)
    return whole


def sync(folder: Path) -> None:
    """Have the names in a folder on the disk, too."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def manifest_in(folder: Path) -> Manifest | None:
    """Reads the manifest that is saved there, if there is one. EmulatorError with the reason if this version cannot
    take it.
    """
    try:
        with (folder / FILE).open("rb") as file:
            return Manifest.read(json.loads(file.readline()))
    except FileNotFoundError:
        return None
    except ValueError:
        raise EmulatorError("it does not begin with a manifest") from None


def contents_in(folder: Path) -> tuple[Manifest, dict[str, Any]]:
    """The state itself. EmulatorError if it is not the one that was saved."""
    manifest = manifest_in(folder)
    if manifest is None:
        raise EmulatorError("nothing is saved there")
    with (folder / FILE).open("rb") as file:
        file.readline()
        body = file.read().removesuffix(b"\n")
    if hashlib.sha256(body).hexdigest() != manifest.digest:
        raise EmulatorError("it is damaged: its digest is not that of its contents")
    try:
        contents: dict[str, Any] = read(body)
    except (ValueError, TypeError, AttributeError) as error:
        raise EmulatorError(f"its contents cannot be read: {error}") from error
    return manifest, contents


def written(contents: Any) -> bytes:
    """As JSON. Errors: TypeError, for what can be neither written nor marked."""
    return json.dumps(escaped(contents), default=tagged, separators=(",", ":")).encode()


def escaped(value: Any) -> Any:
    """The same, with a mark around each object that looks like one of ours: a stored payload may be anything."""
    if isinstance(value, dict):
        inner = {key: escaped(one) for key, one in list(value.items())}  # it may change meanwhile
        return {ESCAPED: inner} if len(value) == 1 and value.keys() <= {BYTES, ESCAPED} else inner
    return [escaped(one) for one in value] if isinstance(value, list | tuple) else value


def tagged(value: object) -> object:
    """Bytes for JSON."""
    if isinstance(value, bytes | bytearray):
        return {BYTES: base64.b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} cannot be saved")


def read(body: bytes) -> Any:
    """The reverse of `written`."""
    return untagged(json.loads(body))


def untagged(value: Any) -> Any:
    """Returns a marked value as it was. It goes from the outside in: a value in an escaped object is no mark."""
    if isinstance(value, list):
        return [untagged(one) for one in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {BYTES}:
        return base64.b64decode(value[BYTES])
    inner = value[ESCAPED] if set(value) == {ESCAPED} else value
    return {key: untagged(one) for key, one in inner.items()}
