"""Calls of our own commands, and of SAM's: the targets of the Makefile with their variables, and options."""

import io
import itertools
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from functools import cache
from typing import Final
from unittest.mock import patch

from docs.hooks.reference.surfaces import makefile

RECIPES: Final = makefile.recipes()
VARIABLES: Final = {*makefile.defaults(), "PYTHON"}
# SAM is not installed where the tests run: its options that we use, as its own documentation has them.
SAM: Final = {
    "build": {"--language-extensions", "--parameter-overrides"},
    "deploy": {
        "--guided", "--stack-name", "--capabilities", "--resolve-s3", "--parameter-overrides", "--language-extensions",
        "--region", "--template-file",
    },
    "delete": {"--stack-name", "--region", "--no-prompts"},
}  # fmt: skip


def wrong_in_make(call: list[str]) -> Iterator[str]:
    """Targets and variables that the Makefile does not have, and options that its commands do not take."""
    for word in call[1:]:
        name, given, value = word.partition("=")
        if not given:
            yield from () if name in RECIPES else (f"make {name}: no such target",)
        elif name not in VARIABLES:
            yield f"make {call[1]}: {name}: no such variable"
        elif name == "ARGS":
            yield from wrong_options(call[1], value)


def wrong_options(target: str, arguments: str) -> Iterator[str]:
    """What the help of its command does not name."""
    words = shlex.split(arguments)
    command = tuple(itertools.takewhile(lambda word: re.fullmatch(r"[a-z-]+", word) and word[0] != "-", words))
    for option in words:
        flag = option.partition("=")[0]
        if flag.startswith("--") and not re.search(rf"{flag}(?![\w-])", help_of(target, command)):
            yield f"make {target}: {flag}: no such option"


@cache
def help_of(target: str, command: tuple[str, ...]) -> str:
    """What the Python program says that the target runs. It is asked in this process, which has read most modules."""
    program = re.search(r"-m ([\w.]+)((?: [a-z][a-z-]*)?)", RECIPES[target])
    assert program, f"make {target} takes no ARGS"
    shown = io.StringIO()
    with (
        patch.object(sys, "argv", [program[1], *program[2].split(), *command, "--help"]),
        redirect_stdout(shown),
        suppress(SystemExit),
    ):
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
    return shown.getvalue()


def wrong_in_sam(call: list[str]) -> Iterator[str]:
    """Commands and options that are not in the table."""
    known = SAM.get(call[1])
    if known is None:
        yield f"sam {call[1]}: not known"
    else:
        yield from (f"sam {call[1]}: {one}: not known" for one in call[2:] if one.startswith("--") and one not in known)
