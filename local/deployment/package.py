"""The code as zip archives, and the template in CloudFormation's form. The same input gives the same bytes."""

import hashlib
import io
import py_compile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path
from typing import Any

from attrs import frozen

from local.deployment.metric_math import without_metric_math
from local.errors import EmulatorError
from operate.deploy.errors import TemplateError
from operate.deploy.expand import expand
from operate.deploy.reading import read_template
from operate.deploy.settled import everything, names_of_settled

CODE_PROPERTIES = {"AWS::Serverless::Function": "CodeUri", "AWS::Serverless::LayerVersion": "ContentUri"}
# The earliest time that a zip archive can hold; a real one would make each archive differ.
EPOCH = (1980, 1, 1, 0, 0, 0)
ON_ONE_MACHINE = (
    "delayer/serve/",
    "delayer/engines/sqlite/",
)  # of `delayer serve`: shared/Makefile leaves them out, too
HEADER = 16  # bytes of a compiled module before its code
UNCHECKED_HASH = (1).to_bytes(4, "little")


@frozen(kw_only=True)
class Package:
    """A template whose code is in a bucket, and the archives to put there."""

    template: dict[str, Any]
    archives: dict[str, bytes]  # object key -> zip archive
    settled: frozenset[str] = frozenset()  # parameters that have counted here, and are none of the template any more


def package(template_file: Path, bucket: str, parameters: Mapping[str, str] | None = None) -> Package:
    """The template as `make deploy` expands it, with each local code folder replaced by an object of this bucket.

    It has all actions that there are, unless the parameters say otherwise: none costs anything here.
    Errors: EmulatorError if the template cannot be read, a value for it is wrong, or a folder does not exist.
    """
    try:
        written = read_template(template_file)
        template = without_metric_math(expand(written, {**everything(written), **(parameters or {})}))
    except TemplateError as error:
        raise EmulatorError(str(error)) from error
    archives: dict[str, bytes] = {}
    for resource in template.get("Resources", {}).values():
        code_property = CODE_PROPERTIES.get(resource.get("Type", ""), "")
        folder = resource.get("Properties", {}).get(code_property)
        if isinstance(folder, str) and "://" not in folder:
            archive = archive_of(template_file.parent / folder, is_layer=code_property == "ContentUri")
            key = f"{hashlib.sha256(archive).hexdigest()}.zip"
            archives[key] = archive
            resource["Properties"][code_property] = f"s3://{bucket}/{key}"
    return Package(template=template, archives=archives, settled=frozenset(names_of_settled(written)))


def archive_of(folder: Path, is_layer: bool) -> bytes:
    """A function's folder, or a layer's package `delayer` under `python/`.

    The layer needs nothing else here: the functions run on this machine's interpreter and find the libraries there.
    """
    if not folder.is_dir():
        raise EmulatorError(f"The template names the folder {folder}, which does not exist.")
    if is_layer:
        files = (one for one in files_under(folder, "delayer") if not one[0].startswith(ON_ONE_MACHINE))
        return zipped((f"python/{name}", content) for name, content in compiled(folder, files))
    return zipped(files_under(folder))


def files_under(folder: Path, package: str = "") -> Iterator[tuple[str, bytes]]:
    """The files that belong into an archive, by their names in the folder, in a fixed order."""
    for file in sorted((folder / package).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".md":
            yield str(file.relative_to(folder)), file.read_bytes()


def compiled(folder: Path, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The files, and beside each module what this machine's interpreter makes of it.

    Each run has the layer in a folder of its own, and would compile it there.
    """
    for name, content in files:
        yield name, content
        if name.endswith(".py") and (code := code_of(folder / name)):
            # Nobody compares it with its source again. (PEP 552: magic number, flags, hash of the source, code.)
            yield cache_from_source(name), MAGIC_NUMBER + UNCHECKED_HASH + source_hash(content) + code


def code_of(source: Path) -> bytes | None:
    """Returns the bytes that the interpreter makes of a module: compiled anew only if it has changed. None if it is no
    valid Python.
    """
    kept = Path(cache_from_source(str(source)))
    if not (is_current(kept, source) or py_compile.compile(str(source), str(kept), quiet=2)):
        return None
    return kept.read_bytes()[HEADER:]


def is_current(kept: Path, source: Path) -> bool:
    """As the interpreter compares the two: by the time and the size of the source."""
    status = source.stat()
    stated = b"".join((number & 0xFFFFFFFF).to_bytes(4, "little") for number in (int(status.st_mtime), status.st_size))
    try:
        with kept.open("rb") as file:
            return file.read(HEADER) == MAGIC_NUMBER + bytes(4) + stated
    except FileNotFoundError:
        return False


def zipped(files: Iterator[tuple[str, bytes]]) -> bytes:
    """A zip archive that depends on names and contents only. It stays on this machine, so nothing is compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()
