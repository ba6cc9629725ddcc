"""The pages in groups, so that a group takes seconds and two processes share them: three modules test a part each."""

from pathlib import Path

from tests.cfn import ROOT
from tests.docs.browser.site import addresses

DECISIONS = [f"adr/{tens:03d}" for tens in range(len(list((ROOT / "adr").glob("[0-9]*.md"))) // 10 + 1)]
GUIDES = ["home", "start", "use", "extend", "how-it-works"]
FACTS = ["actions", "adr", "decide", "operate", "project", "reference"]


def group(address: str) -> str:
    """`use` for `/use/api/`; decision records are many, so that ten are a group."""
    first, _, rest = address.strip("/").partition("/")
    if first in ("", "404.html"):
        return "home"
    return f"adr/{rest[:3]}" if first == "adr" and rest else first


def pages(folder: Path, name: str) -> list[str]:
    """The addresses of those in it."""
    return [address for address in addresses(folder) if group(address) == name]
