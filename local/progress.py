"""Progress of the long steps, with their durations."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

console = Console(highlight=False)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show that a step runs, and how long it took once it has succeeded."""
    began = time.monotonic()
    with console.status(f"{title} …"):
        yield
    console.print(f"  [green]✓[/green] {title} [dim]({time.monotonic() - began:.1f} s)[/dim]")
