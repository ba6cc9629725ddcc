"""`make frozen` writes the files that later changes are compared with anew.

`make new-executor` and its like write those that say what is deployed (`ARGS=--deployment`).
Read the difference before you commit it: each line of it is something that AWS is asked for in another way.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from tests.frozen import cold_starts, permissions, template
from tests.frozen.requests.files import REQUESTS, all_files


def deployed() -> Iterator[tuple[Path, str]]:
    """What an action or a subscriber that is added changes: in seconds."""
    yield template.TEMPLATE, template.text()
    yield permissions.PERMISSIONS, permissions.text()


def everything() -> Iterator[tuple[Path, str]]:
    """Each file with its text: in a minute, as each function is started."""
    yield from all_files()
    yield from deployed()
    yield cold_starts.COLD_STARTS, cold_starts.text(cold_starts.now())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make frozen", description=__doc__)
    parser.add_argument("--deployment", action="store_true", help="only the template and what functions may do")
    only_deployed = parser.parse_args().deployment
    written = dict(deployed() if only_deployed else everything())
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in set() if only_deployed else set(REQUESTS.rglob("*.json")) - set(written):
        path.unlink()  # of an adapter that is gone


if __name__ == "__main__":
    main()
