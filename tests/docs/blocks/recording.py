"""What a shell block would call, without calling it: each program is a stand-in that writes down its arguments.

So the shell itself reads the block, with its quotes, loops, functions and pipes.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from attrs import frozen

PROGRAMS: Final = (
    "aws",
    "sam",
    "make",
    "delayer",
    "curl",
    "pip",
    "pipx",
    "git",
    "jq",
    "cat",
    "sleep",
    "python",
    "pytest",
)
STAND_IN: Final = """#!{python} -S
import json, os, sys
with open({log!r}, "a") as log:
    log.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
if sys.argv[1:2] == ["configure"]:
    print("export AWS_ACCESS_KEY_ID=AKIA AWS_SECRET_ACCESS_KEY=secret AWS_SESSION_TOKEN=token")
else:
    print(1)
"""
SECONDS: Final = 20


@frozen
class Recorded:
    """What came of a block."""

    calls: list[list[str]]
    error: str  # of the shell; empty if it came to the end


def recorded(block: str, folder: Path) -> Recorded:
    """Runs the block in this folder, where no program is but the stand-ins."""
    log, programs = folder / "calls", folder / "programs"
    programs.mkdir(parents=True)
    log.touch()
    for name in re.findall(r"< (\w+\.txt)", block):  # as a block before has written it
        (folder / name).write_text("1\n")
    (folder / "delayer").mkdir()  # as `git clone` makes it
    (folder / ".local/8080").mkdir(parents=True)
    (folder / ".local/8080/aws.env").touch()
    for name in PROGRAMS:
        (programs / name).write_text(STAND_IN.format(python=sys.executable, log=str(log)))
        (programs / name).chmod(0o755)
    (folder / ".venv").mkdir()
    (folder / ".venv/bin").symlink_to(programs)
    done = subprocess.run(
        ["/bin/bash", "-euc", block],
        cwd=folder,
        env={"PATH": str(programs), "HOME": str(folder), "LANG": os.environ.get("LANG", "C.UTF-8"), **GIVEN},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    return Recorded(calls, done.stderr if done.returncode else "")


# What blocks take from the environment, as their pages say.
KEYS: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
GIVEN: Final = dict.fromkeys((*KEYS, "DELAYER_URL", "LIFECYCLE_TOPIC", "QUEUE_ARN"), "given")
