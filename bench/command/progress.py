"""How far a long step of a run has come."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from local.command.progress import console

Advance = Callable[[int], None]  # sets how many are done


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Advance]:
    """Show a progress bar. Without a terminal, show the title at once and the bar at its end."""
    if not console.is_terminal:
        console.print(f"  {title} …")
    columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(title, total=total)
        yield lambda completed: progress.update(task, completed=completed)


def counter(advance: Advance) -> Callable[[], None]:
    """A function that counts its calls and shows the count."""
    numbers = itertools.count(1)
    return lambda: advance(next(numbers))
