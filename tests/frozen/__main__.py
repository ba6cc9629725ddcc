"""`PYTHONPATH=shared:client:. python -m tests.frozen` writes the files that later changes are compared with anew.

Read the difference before you commit it: each line of it is something that AWS is asked for in another way.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.frozen import cold_starts, permissions, template
from tests.frozen.requests.files import REQUESTS, all_files


def everything() -> Iterator[tuple[Path, str]]:
    """Each file with its text."""
    yield from all_files()
    yield template.TEMPLATE, template.text()
    yield permissions.PERMISSIONS, permissions.text()
    yield cold_starts.COLD_STARTS, cold_starts.text(cold_starts.now())


if __name__ == "__main__":
    written = dict(everything())
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in set(REQUESTS.rglob("*.json")) - set(written):
        path.unlink()  # of an adapter that is gone
