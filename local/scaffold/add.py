"""A new executor or subscriber: a folder, a test, and a name in the list of the template."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from string import Template

from local.scaffold.kind import EXECUTOR, Kind, Refused, class_name
from local.scaffold.name_list import found_in

FILES = Path(__file__).parent / "files"


def add(root: Path, kind: Kind, name: str, longest_stack: int, say: Callable[[str], object] = print) -> None:
    """Writes it. Raises Refused, and has then written nothing."""
    template = root / "template.yaml"
    listed = found_in(template.read_text(), kind)
    kind.check(name, listed.names, longest_stack)
    folder, test = kind.folder(root, name), kind.test(root, name)
    for path in (folder, test):
        if path.exists():
            raise Refused(f"{path.relative_to(root)} is there already. Look at it, and remove it.")
    values = {"name": name, "Class": class_name(name), "module": name.replace("-", "_")}
    made = {folder / "app.py": "app.py.txt", folder / "README.md": "README.md", test: "test.py.txt"}
    for path, source in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template((FILES / kind.word / source).read_text()).substitute(values))
        say(f"Wrote {path.relative_to(root)}.")
    template.write_text(listed.having(name, kind.last).text)
    say(f"Added {name} to the list of {kind.loop} in template.yaml.")
    if kind is EXECUTOR:
        write_contract(root)
    say((FILES / kind.word / "next.txt").read_text().replace("NAME", name).replace("MODULE", values["module"]).rstrip())


def write_contract(root: Path) -> None:
    """What `make contract` does: openapi.yaml and the layer follow from the classes."""
    done = subprocess.run([sys.executable, "shared/contract.py"], cwd=root, check=False)
    if done.returncode:
        raise Refused("The files that are made of the classes could not be written; see above. Then: make contract")
