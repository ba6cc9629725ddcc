"""How far a long run is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from local.progress import console

Advance = Callable[[int], None]  # to this many


@contextmanager
def counting(title: str, total: int) -> Iterator[Advance]:
    """Show a bar; where there is no terminal, the title at once and the bar at its end."""
    if not console.is_terminal:
        console.print(f"  {title} …")
    columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(title, total=total)
        yield lambda completed: progress.update(task, completed=completed)
