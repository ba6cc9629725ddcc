"""The commands that an advice names: they can be copied, so they have the port of the run."""

from typing import Final

DEFAULT_PORT: Final = 8080
ANOTHER_PORT: Final = 9090


def command(keep: str, port: int) -> str:
    """Starts a stack that keeps its state on this port."""
    return f"make local KEEP={keep}" + ("" if port == DEFAULT_PORT else f" PORT={port}")


def on_another(port: int) -> str:
    """The same with a port that is not this one."""
    return command("1", ANOTHER_PORT if port != ANOTHER_PORT else ANOTHER_PORT + 10)
