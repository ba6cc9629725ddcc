"""A new executor, subscriber or policy: a folder, a test, and a name in the list of the template."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from delayer_client.scaffold import APP, README, TEST, Surroundings, module_name, texts
from local.scaffold.kind import Kind, Refused
from local.scaffold.name_list import found_in

FILES = Path(__file__).parent / "files"
MADE_OF_CLASSES = (
    "openapi.yaml",
    "shared/delayer/actions/rules/built_in.json",
    "shared/delayer/http/contract.json",
    "shared/delayer/accept/rules/policies.json",
)


def add(root: Path, kind: Kind, name: str, longest_stack: int, say: Callable[[str], object] = print) -> None:
    """Writes it. Raises Refused, and has then written nothing."""
    template = root / "template.yaml"
    listed = found_in(template.read_text(), kind)
    kind.check(name, listed.names, longest_stack)
    folder, test = kind.folder(root, name), kind.test(root, name)
    for path in (folder, test):
        if path.exists():
            raise Refused(f"{path.relative_to(root)} is there already. Look at it, and remove it.")
    title = f"{kind.word}-{name}"
    around = Surroundings(title=title, folder=f'ROOT / "functions/{title}"', own="from tests.cfn import ROOT")
    text = texts(kind.word, name, around)
    made = {folder / APP: text[APP], folder / README: text[README], test: text[TEST]}
    with all_or_nothing(root, [folder, test, template]):
        for path, content in made.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        template.write_text(listed.having(name, kind.last).text)
        if kind.has_class:
            write_contract(root)
    for path in made:
        say(f"Wrote {path.relative_to(root)}.")
    say(f"Added {name} to the list of the parameter {kind.parameter} in template.yaml.")
    say(
        (FILES / kind.word / "next.txt").read_text().replace("NAME", name).replace("MODULE", module_name(name)).rstrip()
    )


def write_contract(root: Path) -> None:
    """Does what `make contract` does: openapi.yaml and the layer follow from the classes."""
    done = subprocess.run([sys.executable, "shared/contract.py"], cwd=root, check=False)
    if done.returncode:
        raise Refused(
            "`make contract` fails; see above. Everything is as it was before. Mend that, and repeat the command."
        )


@contextmanager
def all_or_nothing(root: Path, paths: Sequence[Path]) -> Iterator[None]:
    """An error that is raised within it leaves these files and folders, and what is made of the classes, as
    they were.
    """
    watched = [*paths, *(root / name for name in MADE_OF_CLASSES)]
    before = {file: file.read_bytes() for path in watched for file in (path, *path.rglob("*")) if file.is_file()}
    try:
        yield
    except BaseException:
        for path in watched:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for file, content in before.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        raise
