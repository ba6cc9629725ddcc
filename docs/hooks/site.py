"""Shows files of the repository as pages, shows the version, and makes the page of a dead link work offline.

A hook of mkdocs. A line `<!-- file: CHANGELOG.md -->` on a page stands for that file, without its title. Its links are
mended: they lead to the pages of this site, or into the repository if the site knows it.
"""

import re
from pathlib import Path
from posixpath import relpath
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
SHOWN = re.compile(r"^<!-- file: ([\w./-]+) -->$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """The version is that of the contract; the footer shows it."""
    contract = yaml.load((ROOT / "openapi.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    config["extra"]["version_of_delayer"] = contract["info"]["version"]
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """The page with the files that it shows."""
    here = page.file.src_uri.rpartition("/")[0]
    return SHOWN.sub(lambda file: shown(file[1], here, config), markdown)


def shown(name: str, here: str, config: Any) -> str:
    """A file without its title, its links seen from a folder of the site."""
    _, _, text = (ROOT / name).read_text(encoding="utf-8").partition("\n")
    return LINK.sub(lambda link: mended(link[1], link[2], link[3] or "", here, config), text.strip())


def mended(text: str, target: str, anchor: str, here: str, config: Any) -> str:
    """A link as seen from the root of the repository: docs/ is the site, adr/ lies in it, all else is outside."""
    if target.startswith(("docs/", "adr/")):
        return f"[{text}]({relpath(target.removeprefix('docs/'), here or '.')}{anchor})"
    url = config["repo_url"]
    return f"[{text}]({url.rstrip('/')}/blob/{config['extra']['ref']}/{target}{anchor})" if url else text


def on_template_context(context: Any, template_name: str, config: Any) -> Any:
    """Without an address, the site may lie in any folder of a disk: then the links of 404.html are relative.

    A server that shows it for a dead address, however deep, is that of a published site, which has an address.
    """
    if template_name == "404.html" and not config["site_url"]:
        context["base_url"] = "."
    return context
