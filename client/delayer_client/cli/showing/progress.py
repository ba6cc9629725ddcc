"""What moves while something takes long: on standard error, and only for people."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from delayer_client.cli.session import Session


@frozen
class Bar:
    """Says how far it has come; to nobody, if nobody looks on."""

    progress: "Progress | None"
    task: "TaskID | None"

    def at(self, done: int, text: str = "", total: int | None = None) -> None:
        """So many are done."""
        if self.progress is not None and self.task is not None:
            given = {"description": text} if text else {}
            self.progress.update(self.task, completed=done, total=total, **given)  # type: ignore[arg-type]


@contextmanager
def bar(session: "Session", text: str, total: int | None = None) -> Iterator[Bar]:
    """A bar; without a total it only moves."""
    errors = session.output.errors
    if session.as_json or not errors.is_terminal:
        yield Bar(None, None)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn()]
    with Progress(*columns, MofNCompleteColumn(), TimeElapsedColumn(), console=errors, transient=True) as progress:
        yield Bar(progress, progress.add_task(text, total=total))


@contextmanager
def waiting(session: "Session", text: str) -> Iterator[None]:
    """A sign that moves."""
    errors = session.output.errors
    if session.as_json or not errors.is_terminal:
        yield
        return
    from rich.text import Text

    with errors.status(Text(text)):
        yield
