"""Takes an executor, a subscriber or a policy out again."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from local.scaffold.add import FILES, all_or_nothing, write_contract
from local.scaffold.kind import Kind, Refused
from local.scaffold.name_list import found_in
from local.scaffold.table import setting_in, without_row

TEXTS = (".py", ".md", ".yaml", ".yml")


def remove(root: Path, kind: Kind, name: str, *, force: bool, say: Callable[[str], object] = print) -> None:
    """Raises Refused, and has then changed nothing. What git could not bring back is deleted by force only."""
    template = root / "template.yaml"
    listed = found_in(template.read_text(), kind)
    own = [one for one in listed.names if one not in kind.last]
    if name not in own:
        why = f"There is no {kind.word} {name!r} to take out." if name else f"Give a name: make rm-{kind.word} NAME=…"
        raise Refused(f"{why} There are: {', '.join(own) or 'none'}.")
    paths = [path for path in (kind.folder(root, name), kind.test(root, name)) if path.exists()]
    lost = [] if force else list(_not_in_git(root, paths))
    if lost:
        raise Refused(f"git could not bring these back: {', '.join(lost)}. Commit them, or add FORCE=1.")
    with all_or_nothing(root, [*paths, template]):
        for path in paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        text, row = without_row(listed.lacking(name).text, kind, name)
        template.write_text(text)
        if kind.has_class:
            write_contract(root)
    for path in paths:
        say(f"Removed {path.relative_to(root)}.")
    say(f"Took {name} out of the list of the parameter {kind.parameter} in template.yaml.")
    if row:
        say(f"Took its line out of the table {kind.table} in template.yaml.")
    for left in _what_is_left(root, kind, name, setting_in(row)):
        say(left)
    say((FILES / kind.word / "removed.txt").read_text().replace("NAME", name).rstrip())


def _what_is_left(root: Path, kind: Kind, name: str, setting: str) -> Iterator[str]:
    """Lists the parts that only the author can judge: a policy, texts, and the parameter or the resource of its
    setting.
    """
    for place in mentions(root, kind, name):
        yield f"It is still named in {place}."
    if setting and (numbers := _lines_with(root / "template.yaml", rf"\b{setting}\b")):
        yield f"Its setting {setting} is still in template.yaml, line {numbers}. Take it out if nothing else uses it."


def _not_in_git(root: Path, paths: list[Path]) -> Iterator[str]:
    """Lists the files that are not committed as they are; all of them where there is no git."""
    names = [str(path.relative_to(root)) for path in paths]
    git = shutil.which("git")
    if not git or not names:
        yield from names
        return
    asked = [git, "status", "--porcelain", "--untracked-files=all", "--", *names]
    answer = subprocess.run(asked, cwd=root, capture_output=True, text=True, check=False)
    if answer.returncode:
        yield from names
    else:
        yield from (line[3:] for line in answer.stdout.splitlines())


def mentions(root: Path, kind: Kind, name: str) -> Iterator[str]:
    """Places that name it by its folder or by its resources, such as a policy that somebody wrote behind the loop."""
    folder, resource = f"{kind.word}-{name}", f"{kind.word.capitalize()}{name.replace('-', '')}"
    wanted = rf"\b{folder}(?![a-z0-9-])|\b{resource}(?![a-z0-9])"  # not executor-slack-post for executor-slack
    folders = ("docs", "tests", "shared", "functions", "local", "bench", "operate")
    inside = [path for folder in folders for path in sorted((root / folder).rglob("*"))]
    for path in [root / "template.yaml", root / "README.md", *inside]:
        if path.suffix in TEXTS and path.is_file() and (numbers := _lines_with(path, wanted)):
            yield f"{path.relative_to(root)}, line {numbers}"


def _lines_with(path: Path, pattern: str) -> str:
    """Their numbers."""
    lines = path.read_text().splitlines()
    return ", ".join(str(number) for number, line in enumerate(lines, 1) if re.search(pattern, line))
