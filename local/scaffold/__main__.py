"""`python -m local.scaffold new-executor --name=slack-post …`, or `make new-executor NAME=slack-post`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from local.project import PROJECT
from local.scaffold.add import add
from local.scaffold.kind import EXECUTOR, POLICY, SUBSCRIBER, Refused
from local.scaffold.remove import remove

KINDS = {kind.word: kind for kind in (EXECUTOR, SUBSCRIBER, POLICY)}


def main(arguments: Sequence[str] | None = None, root: Path = PROJECT) -> int:
    """1 if nothing was done, otherwise 0."""
    commands = [f"{verb}-{word}" for verb in ("new", "rm") for word in KINDS]
    parser = argparse.ArgumentParser(
        prog="scaffold", description="Adds an executor, a subscriber or a policy, or takes it out."
    )
    parser.add_argument("command", choices=commands)
    parser.add_argument("--name", required=True, help="its type, such as slack-post")
    parser.add_argument("--longest-stack-name", type=int, required=True, help="characters")
    parser.add_argument("--force", action="store_true", help="delete what git cannot bring back, too")
    given = parser.parse_args(arguments)
    verb, _, word = given.command.partition("-")
    try:
        if verb == "new":
            add(root, KINDS[word], given.name, given.longest_stack_name)
        else:
            remove(root, KINDS[word], given.name, force=given.force)
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
