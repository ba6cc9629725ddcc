"""A program that is asked by lines of JSON on its standard input, and answers each by a line on its standard output."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

Commands = Mapping[str, Callable[..., object]]


def serve(commands: Commands) -> None:
    """Say that the program is ready, and answer until the input ends."""
    answer("ready")
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        answer(commands[asked.pop("do")](**asked))


def answer(content: object) -> None:
    """One line."""
    print(json.dumps(content), flush=True)
