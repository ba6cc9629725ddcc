"""What a function's process does first: it was forked, and becomes what a process of its own would be.

The one that it was forked from imports nothing but this module and the libraries.
"""

import os
import random
import runpy
import sys
from multiprocessing.connection import Connection
from pathlib import Path


def run(script: str, folder: str, environment: dict[str, str], *streams: Connection) -> None:
    """Run a script with these environment variables, in this folder, with these streams as its standard ones."""
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115 - to the end
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    random.seed()  # or all of them would draw the same numbers
    sys.argv = [script]
    sys.path[:] = [str(Path(script).parent), *(entry for entry in sys.path if _is_of_libraries(entry))]
    runpy.run_path(script, run_name="__main__")


def _is_of_libraries(entry: str) -> bool:
    """And not the project itself, which a function finds in its layer only."""
    return any(entry.startswith(f"{prefix}{os.sep}") for prefix in (sys.prefix, sys.base_prefix))
