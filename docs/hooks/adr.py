"""Shows number, status and date of each decision record, groups the records in the sidebar, and makes their timeline.

A hook of mkdocs. Each fact has one place: number, status and date are in the front matter of the record, its theme is
the heading in adr/index.md under which it is listed.
"""

import re
from pathlib import Path
from typing import Any

import yaml
from mkdocs.structure.files import File, Files

INDEX = "adr/index.md"
TIMELINE = "adr/timeline.md"
RECORD = re.compile(r"adr/(\d{4})-[a-z0-9-]+\.md")
OF_THE_FILE = "The sidebar of the site is made from this page."
OF_THE_SITE = (
    "They are also listed [by their dates](timeline.md), and [by the files of the code](code.md) that follow them."
)
LISTED = re.compile(r"- \[(\d{4})\]\((\d{4}-[a-z0-9-]+\.md)\) (.+)")
ELSEWHERE = "index.md#decisions-told-elsewhere"  # the table of what was superseded
HEAD = """\
---
search:
  exclude: true
---

# Timeline

Every decision by its date, the newest first, and grouped by theme as in [the index](index.md). Until the first release
the records follow the code ([ADR 0001](0001-record-decisions.md)), so a date is that of the present wording. What was
superseded is in [a table](index.md#decisions-told-elsewhere) of the index.
"""


def on_config(config: Any) -> Any:
    """Puts the timeline and the records into the navigation: the one behind the index, the others in the end."""
    index = (Path(config["docs_dir"]) / INDEX).read_text(encoding="utf-8")
    for section in config["nav"]:
        for pages in section.values():
            if isinstance(pages, list) and INDEX in pages:
                pages.insert(pages.index(INDEX) + 1, {"Timeline": TIMELINE})
                pages += themes(index)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the timeline, which is no file."""
    files.append(File.generated(config, TIMELINE, content=timeline(Path(config["docs_dir"]) / "adr")))
    return files


def themes(index: str) -> list[dict[str, list[dict[str, str]]]]:
    """The headings of the index, each with its records by their titles in the sidebar."""
    found: list[dict[str, list[dict[str, str]]]] = []
    for line in index.splitlines():
        if line.startswith("## "):
            found.append({line.removeprefix("## "): []})
        elif listed := LISTED.fullmatch(line):
            [records] = found[-1].values()
            number, file, title = listed.groups()
            records.append({f"{number} {short(title)}": f"adr/{file}"})
    return [theme for theme in found if any(theme.values())]  # without that of the table


def short(title: str) -> str:
    """A title as far as its first colon or semicolon."""
    return re.split("[:;]", title.replace("`", ""))[0]


def timeline(folder: Path) -> str:
    """The page: a heading for each date, below it the themes, below each its records."""
    dates: dict[str, dict[str, list[str]]] = {}
    theme = ""
    for line in (folder / "index.md").read_text(encoding="utf-8").splitlines():
        theme = line.removeprefix("## ") if line.startswith("## ") else theme
        if listed := LISTED.fullmatch(line):
            _, file, title = listed.groups()
            meta = front_matter(folder / file)
            entry = f"- {entered(meta, file, title)}"
            dates.setdefault(str(meta["date"]), {}).setdefault(theme, []).append(entry)
    return HEAD + "".join(day(date, dates[date]) for date in sorted(dates, reverse=True))


def day(date: str, by_theme: dict[str, list[str]]) -> str:
    """What was decided on one date."""
    entries = [entry for group in by_theme.values() for entry in group]
    groups = "".join(f"\n**{theme}**\n\n" + "\n".join(group) + "\n" for theme, group in by_theme.items())
    return f"\n## {date}\n\n{len(entries)} records.\n{groups}"


def entered(meta: dict[str, Any], file: str, title: str) -> str:
    """One record in the timeline."""
    return f"[{meta['number']:04d}]({file}) {title}" + ("" if meta["status"] == "accepted" else f" ({meta['status']})")


def front_matter(file: Path) -> dict[str, Any]:
    """Number, status and date, and what it supersedes."""
    written = file.read_text(encoding="utf-8").split("---\n")[1]
    parsed: dict[str, Any] = yaml.load(written, Loader=yaml.CSafeLoader)
    return parsed


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Puts the number before the title, and the facts below it; so the search finds "0018" and "ADR 0018", too."""
    if not page.file.src_uri.startswith("adr/"):
        return markdown
    markdown = markdown.replace("](../docs/", "](../")  # in the repository, docs/ lies beside adr/; here, adr/ in docs/
    record = RECORD.fullmatch(page.file.src_uri)
    if not record:
        return markdown.replace(OF_THE_FILE, OF_THE_SITE)
    return re.sub(
        r"^# (.+)$",
        lambda title: f"# {record[1]} {title[1]}\n\n{facts(page.meta)}\n{{ .adr-facts }}",
        markdown,
        count=1,
        flags=re.MULTILINE,
    )


def facts(meta: dict[str, Any]) -> str:
    """One line, such as: ADR 0018 · accepted · 2026-11-20 · supersedes ADR 0019."""
    parts = [f"ADR {meta['number']:04d}", str(meta["status"]), str(meta["date"])]
    if "supersedes" in meta:
        earlier = meta["supersedes"] if isinstance(meta["supersedes"], list) else [meta["supersedes"]]
        parts.append("supersedes " + ", ".join(f"[ADR {number:04d}]({ELSEWHERE})" for number in earlier))
    return " · ".join(parts)
