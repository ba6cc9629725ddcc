"""Every kind of finding of the doctor, as its catalogue has them."""

from delayer_client.operator.doctor import CATALOGUE, Entry
from docs.hooks.reference.text import ROOT, cell, plain, table


def findings() -> str:
    """In the order in which the doctor looks."""
    rows = ((f"`{one.code}`", str(one.severity), text(one.means), advice(one)) for one in CATALOGUE)
    return table(("code", "severity", "what it means", "what to do"), rows)


def text(said: str) -> str:
    """In a cell of a table."""
    return cell(plain(said))


def advice(entry: Entry) -> str:
    """What is to be done, and the page that says more."""
    if not entry.link:
        return text(entry.do)
    title = (ROOT / "docs" / entry.link.partition("#")[0]).read_text(encoding="utf-8").partition("\n")[0]
    return f"{text(entry.do)} [{title.removeprefix('# ')}](docs:{entry.link})"
