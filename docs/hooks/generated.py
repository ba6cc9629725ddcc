"""Makes the pages of the reference, from the code and from template.yaml.

A hook of mkdocs. A line `<!-- generated: NAME -->` of a page stands for what docs/hooks/reference makes of the code;
what is around it is written by hand. Each function has a page, which is no file.
"""

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
# mkdocs knows neither this repository nor its package `delayer`, and other clones may be installed.
sys.path[:0] = [str(ROOT), str(ROOT / "shared"), str(ROOT / "client")]

from docs.hooks import actions  # noqa: E402 - it is found by the line above
from docs.hooks.reference import pages  # noqa: E402
from docs.hooks.reference.functions import page as functions  # noqa: E402


def on_config(config: Any) -> Any:
    """Puts the pages of the functions into the navigation, behind their index."""
    entry = {"Functions": [functions.INDEX, *functions.navigation()]}
    for listed in actions.lists(config["nav"]):
        listed[:] = [entry if isinstance(page, dict) and functions.INDEX in page.values() else page for page in listed]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages, which are no files."""
    for path, content in functions.pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with what is generated."""
    return pages.filled(markdown, page.file.src_uri)
