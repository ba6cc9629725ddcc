"""Shows number, status and date of each decision record, and groups the records in the sidebar as the index does.

A hook of mkdocs. Each fact has one place: number, status and date are in the front matter of the record, its theme is
the heading in adr/index.md under which it is listed.
"""

import re
from pathlib import Path
from typing import Any

INDEX = "adr/index.md"
RECORD = re.compile(r"adr/(\d{4})-[a-z0-9-]+\.md")
LISTED = re.compile(r"- \[(\d{4})\]\((\d{4}-[a-z0-9-]+\.md)\) (.+)")


def on_config(config: Any) -> Any:
    """Puts the records into the navigation, behind the index."""
    index = (Path(config["docs_dir"]) / INDEX).read_text(encoding="utf-8")
    for section in config["nav"]:
        for pages in section.values():
            if isinstance(pages, list) and INDEX in pages:
                pages += themes(index)
    return config


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
    return found


def short(title: str) -> str:
    """A title as far as its first colon or semicolon, marked if the record is superseded."""
    whole, _, superseded = title.replace("`", "").partition(" (superseded")
    return re.split("[:;]", whole)[0] + (" (superseded)" if superseded else "")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Puts the number before the title, and the facts below it; so the search finds "0018" and "ADR 0018", too."""
    record = RECORD.fullmatch(page.file.src_uri)
    if not record:
        return markdown
    folder = Path(config["docs_dir"]) / "adr"
    markdown = markdown.replace("](../docs/", "](../")  # as it is in the repository, and as it is on the site
    return re.sub(
        r"^# (.+)$",
        lambda title: f"# {record[1]} {title[1]}\n\n{facts(page.meta, folder)}\n{{ .adr-facts }}",
        markdown,
        count=1,
        flags=re.MULTILINE,
    )


def facts(meta: dict[str, Any], folder: Path) -> str:
    """One line, such as: ADR 0018 · accepted · 2026-11-20 · supersedes ADR 0019."""
    status = str(meta["status"])
    if "superseded-by" in meta:
        status += f" by {link(meta['superseded-by'], folder)}"
    parts = [f"ADR {meta['number']:04d}", status, str(meta["date"])]
    if "supersedes" in meta:
        earlier = meta["supersedes"] if isinstance(meta["supersedes"], list) else [meta["supersedes"]]
        parts.append("supersedes " + ", ".join(link(number, folder) for number in earlier))
    return " · ".join(parts)


def link(number: int, folder: Path) -> str:
    """A link to another record, by its number."""
    [file] = folder.glob(f"{number:04d}-*.md")
    return f"[ADR {number:04d}]({file.name})"
