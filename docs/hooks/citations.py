"""Leads from each decision record to the files that cite it and the tests that confirm it, and back.

A hook of mkdocs. Nothing is listed by hand: the code names its decisions in comments ("ADR 0018"), a function in the
README of its folder, and a record names its tests in its section Confirmation. If the site knows its repository, the
paths are links into it.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PAGE = "adr/code.md"
INDEX = "adr/index.md"
RECORD = re.compile(r"adr/(\d{4})-[a-z0-9-]+\.md")
FOLDERS = ("bench", "client", "examples", "functions", "local", "operate", "shared")
TESTS = "tests"
EXAMPLES = "tests/docs/"  # what tests the documentation names decisions as examples
FILES = (
    "Makefile",
    "openapi.yaml",
    "pyproject.toml",
    "requirements-serve.in",
    "requirements-local.in",
    "requirements-uv.in",
    "template.yaml",
)
ENDINGS = (".html", ".in", ".js", ".md", ".py", ".toml", ".yaml")
CITED = re.compile(r"ADR (\d{4}(?:(?:, | and )\d{4})*)|/adr/(\d{4})-")
CONFIRMED = re.compile(r"`(tests/[\w/.-]+\.py)`")
HEAD = """\
---
search:
  exclude: true
---

# From code to decisions

Which decisions a file of the code or a test follows. The code names them in its comments, a function in the README of
its folder, and each decision names the tests that fail when it is broken. The page of a decision has the same links in
the other direction.
"""


def on_config(config: Any) -> Any:
    """Puts the page into the navigation, behind the index of the records. Each build reads the files anew."""
    citing.cache_clear()
    confirming.cache_clear()
    for section in config["nav"]:
        for pages in section.values():
            if isinstance(pages, list) and INDEX in pages:
                pages.insert(pages.index(INDEX) + 1, {"From code to decisions": PAGE})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the page, which is no file."""
    files.append(File.generated(config, PAGE, content=page_of_the_code(config)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Adds the paths to the page of a record."""
    record = RECORD.fullmatch(page.file.src_uri)
    return markdown + section(int(record[1]), config) if record else markdown


def cited(text: str) -> set[int]:
    """The numbers that a text names, such as "ADR 0018, 0019"."""
    found = (number for groups in CITED.findall(text) for number in re.findall(r"\d{4}", " ".join(groups)))
    return {int(number) for number in found}


@cache
def citing() -> dict[str, set[int]]:
    """The files of the code and the tests that name decisions, each with their numbers."""
    inside = (path for folder in (*FOLDERS, TESTS) for path in (ROOT / folder).rglob("*") if path.suffix in ENDINGS)
    files = sorted(path for path in (*inside, *(ROOT / name for name in FILES)) if path.is_file())
    found = {path.relative_to(ROOT).as_posix(): cited(path.read_text(encoding="utf-8")) for path in files}
    return {path: numbers for path, numbers in found.items() if numbers and not path.startswith(EXAMPLES)}


@cache
def confirming() -> dict[str, set[int]]:
    """The tests that the records name, each with the numbers of the records."""
    found: dict[str, set[int]] = {}
    for file in (ROOT / "adr").glob("[0-9]*.md"):
        _, _, confirmation = file.read_text(encoding="utf-8").partition("### Confirmation")
        for path in CONFIRMED.findall(confirmation.partition("\n## ")[0]):
            found.setdefault(path, set()).add(int(file.name[:4]))
    return found


def section(number: int, config: Any) -> str:
    """What leads from a record to the code and the tests."""
    tests = [path for path, numbers in confirming().items() if number in numbers]
    paths = [path for path, numbers in citing().items() if number in numbers and path not in tests]
    lists = listed("Tests that confirm it", tests, config) + listed("Files that cite it", paths, config)
    return f"\n## In the code and the tests {{ data-search-exclude }}\n\n{lists}" if lists else ""


def listed(title: str, paths: Iterable[str], config: Any) -> str:
    """A heading and a list of paths."""
    entries = "".join(f"- {place(path, config)}\n" for path in sorted(paths))
    return f'{title}:\n\n<div class="paths" markdown>\n\n{entries}\n</div>\n\n' if entries else ""


def place(path: str, config: Any) -> str:
    """A path, as a link if the site knows its repository."""
    text, url = f"`{path}`", config["repo_url"]
    return f"[{text}]({url.rstrip('/')}/blob/{config['extra']['ref']}/{path})" if url else text


def page_of_the_code(config: Any) -> str:
    """A table for each folder: a file, and its decisions."""
    known = {int(file.name[:4]): file.name for file in (ROOT / "adr").glob("[0-9]*.md")}
    found = {path: citing().get(path, set()) | confirming().get(path, set()) for path in {*citing(), *confirming()}}
    groups: dict[str, list[str]] = {}
    for path in sorted(found, key=lambda path: (path.startswith(TESTS), "/" not in path, path)):
        links = ", ".join(f"[{number:04d}]({known[number]})" for number in sorted(found[path]) if number in known)
        groups.setdefault(group(path), []).append(f"| {place(path, config)} | {links} |\n")
    return HEAD + "".join(table(name, rows) for name, rows in groups.items())


def table(name: str, rows: list[str]) -> str:
    """The files of one room."""
    head = "| file | decisions |\n|---|---|\n"
    return f'\n## {name}\n\n<div class="paths" markdown>\n\n{head}{"".join(rows)}\n</div>\n'


def group(path: str) -> str:
    """The room of a file: two folders of the layer, one of all others."""
    first, *rest = path.split("/")
    if not rest:
        return "The root"
    return f"{first}/{rest[0]}/{rest[1]}" if first == "shared" and len(rest) > 2 else first
