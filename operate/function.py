"""What the programs of an operator share."""

import argparse
from collections.abc import Callable

Say = Callable[[str], None]


def add_stack(parser: argparse.ArgumentParser) -> None:
    """The option that every command has."""
    parser.add_argument("--stack", default="delayer", metavar="NAME", help="name of the stack (default: delayer)")


def printable(text: str) -> str:
    """Reasons may quote what others sent: nothing in them may command a terminal."""
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in text)
