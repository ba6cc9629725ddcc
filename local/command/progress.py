"""The steps that take long: their titles, and how long each took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

console = Console(highlight=False)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show that a step is running and, once it has succeeded, how long it took."""
    began = time.monotonic()
    with console.status(f"{title} …"):
        yield
    console.print(f"  [green]✓[/green] {title} [dim]({time.monotonic() - began:.1f} s)[/dim]")
