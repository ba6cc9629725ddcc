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

from docs.hooks.reference import pages  # noqa: E402 - it is found by the line above
from docs.hooks.reference.functions import page as functions  # noqa: E402


def on_config(config: Any) -> Any:
    """Puts the pages of the functions into the navigation, behind their index."""
    for _, section in (part for parts in config["nav"] for part in parts.items()):
        for group in (group for group in section if isinstance(group, dict)):
            for listed in (one for one in group.values() if isinstance(one, list)):
                places = [
                    at for at, page in enumerate(listed) if isinstance(page, dict) and functions.INDEX in page.values()
                ]
                for at in places:
                    listed[at] = {"Functions": [functions.INDEX, *functions.navigation()]}
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages, which are no files."""
    for path, content in functions.pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with what is generated."""
    return pages.filled(markdown, page.file.src_uri)
