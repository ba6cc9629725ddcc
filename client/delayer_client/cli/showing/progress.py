"""Shows movement while something takes long: on standard error, and only for people."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from attrs import define

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from delayer_client.cli.session import Session

LINE_EVERY: Final = timedelta(seconds=10)  # of a log; what ends sooner leaves none


@define
class Bar:
    """Says how far it has come: to who looks on, and to a log a line now and then."""

    session: "Session"
    text: str
    total: int | None
    line_every: timedelta
    said_at: datetime
    progress: "tuple[Progress, TaskID] | None" = None

    def at(self, done: int, text: str = "", total: int | None = None) -> None:
        """So many are done."""
        if self.progress is not None:
            bar, task = self.progress
            given = {"description": text} if text else {}
            bar.update(task, completed=done, total=total, **given)  # type: ignore[arg-type]
        elif not self.session.as_json and self.session.now - self.said_at >= self.line_every:
            of = f" of {total or self.total:,}" if total or self.total else ""
            self.session.output.note(f"  {text or f'{self.text}: {done:,}{of}'}")
            self.said_at = self.session.now


@contextmanager
def bar(
    session: "Session", text: str, total: int | None = None, *, line_every: timedelta = LINE_EVERY
) -> Iterator[Bar]:
    """A bar; without a total it only moves. Where there is no terminal, a line after each `line_every`."""
    made = Bar(session, text, total, line_every, session.now)
    errors = session.output.errors
    if session.as_json or not errors.is_terminal:
        yield made
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn()]
    with Progress(*columns, MofNCompleteColumn(), TimeElapsedColumn(), console=errors, transient=True) as progress:
        made.progress = progress, progress.add_task(text, total=total)
        yield made


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
