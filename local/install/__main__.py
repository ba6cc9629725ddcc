"""Installs hashed requirements into an environment, and makes it first: `python -m local.install engine`, and so on.

pip brings one package, uv, and uv installs the rest in seconds. Where uv cannot, pip does all (ADR 0136). What is here
runs before anything is installed, and so imports the standard library only.
"""

import ast
import os
import re
import subprocess
import sys
import time
import venv
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
HOME: Final = ".venv"  # where uv is, too
CLIENT: Final = ("--no-deps", "--no-build-isolation", "--editable", "client")


class Wanted(NamedTuple):
    """The packages that a target of the Makefile needs: a package stands in one file only, so later ones complete the
    first.
    """

    said: str
    seconds: int  # about, with an empty cache
    files: tuple[str, ...]
    folder: str = HOME  # of its environment


ENGINE: Final = "requirements-serve.txt"
STACK: Final = (ENGINE, "requirements-local.txt")
WANTED: Final = {
    "engine": Wanted("the engine, the command line and the console need", 4, (ENGINE,)),
    "stack": Wanted("the stack in the emulator and operators need", 5, STACK),
    "checks": Wanted("tests and checks need", 10, (*STACK, "requirements-dev.txt")),
    "site": Wanted("the documentation needs", 4, (*STACK, "requirements-docs.txt")),
    # Versions of the SAM CLI, whose packages are others than ours, for the test that performs the deployment.
    "sam-oldest": Wanted("the oldest SAM CLI needs", 8, ("tests/deployment/sam/oldest.txt",), ".sam/oldest"),
    "sam-newest": Wanted("the newest SAM CLI needs", 8, ("tests/deployment/sam/newest.txt",), ".sam/newest"),
}
# What pip is told by its files and by PIP_…, and what uv calls it.
OPTIONS: Final = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
    "trusted-host": "UV_INSECURE_HOST",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}
SECTIONS: Final = ("global", "install", ":env:")  # the later has the last word
SEPARATORS: Final = {"UV_FIND_LINKS": ","}
NO_NETWORK: Final = (
    "The Python packages could not be installed; see above. They come from the package index that pip is configured "
    "with: can this machine reach it? HTTPS_PROXY, PIP_INDEX_URL and PIP_CERT say the way."
)
NO_PIP: Final = (
    "{python} has neither pip nor ensurepip, of which one is needed. On Debian and Ubuntu, python3-venv has it."
)


class NotInstalledError(Exception):
    """A step failed. The text is for the user: what to do about it."""


class Environment:
    """A virtual environment and what installs into it."""

    def __init__(self, folder: Path, home: Path | None = None) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.uv = (home or folder) / "bin" / "uv"

    def make(self) -> None:
        """Without pip, which would take longer than all the rest. One that works is kept."""
        if works([str(self.python), "-c", ""]):
            return
        say(f"Making a virtual environment with Python {sys.version.split()[0]}.")
        venv.create(self.folder, clear=True, symlinks=True)

    @property
    def made_with(self) -> str:
        """The interpreter that it was made with, if it records that; otherwise this one."""
        record = (self.folder / "pyvenv.cfg").read_text(encoding="utf-8")
        found = re.search(r"^executable = (.+)$", record, re.MULTILINE)
        return found[1] if found else sys.executable

    @cached_property
    def pip(self) -> list[str]:
        """The pip of the interpreter outside works in here, too; if it has none, the one it brings for this."""
        if works([self.made_with, "-c", "import pip"]):
            return [self.made_with, "-m", "pip", "--python", str(self.python)]
        inside = str(self.python)
        if not works([inside, "-c", "import pip"]) and not works([inside, "-m", "ensurepip"]):
            raise NotInstalledError(NO_PIP.format(python=self.made_with))
        return [inside, "-m", "pip"]

    def has_uv(self, requirements: Path) -> bool:
        """Whether uv is there, in the version that is pinned; otherwise pip installs it."""
        [version] = re.findall(r"^uv==(\S+)", requirements.read_text(encoding="utf-8"), re.MULTILINE)
        there = subprocess.run([self.uv, "--version"], capture_output=True, text=True) if self.uv.exists() else None
        if there and there.stdout.split()[1:2] == [version]:
            return True
        say("Fetching uv, which installs the rest (about 25 MB, 5 s).")
        command = [*self.pip, "install", "--quiet", "--only-binary", ":all:", "--require-hashes"]
        fetched = shown_if_it_fails([*command, "--requirement", str(requirements)])
        if not fetched:
            print("uv could not be fetched; see above.", file=sys.stderr)
        return fetched

    def install(self, *arguments: str, with_uv: bool) -> bool:
        """Whether uv did it. Otherwise pip has, or it raises NotInstalledError."""
        if with_uv:
            if run_uv([str(self.uv), "pip", "install", "--python", str(self.python), *arguments], self.settings):
                return True
            print("uv could not install them; see above.", file=sys.stderr)
        say("pip installs them, which takes minutes and not seconds.")
        if subprocess.run([*self.pip, "install", *arguments], cwd=ROOT).returncode:
            raise NotInstalledError(NO_NETWORK)
        return False

    @cached_property
    def settings(self) -> dict[str, str]:
        """The settings that uv gets beside those of the caller's environment."""
        listed = subprocess.run([*self.pip[:3], "config", "list"], capture_output=True, text=True)
        return {**given_to_uv(listed.stdout.splitlines()), **os.environ}


def given_to_uv(listed: Iterable[str]) -> dict[str, str]:
    """Returns the settings that `pip config list` prints, as uv's variables."""
    found: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listed:
        key, _, shown = line.partition("=")
        section, _, option = key.rpartition(".")
        if section in found and option in OPTIONS:
            found[section][OPTIONS[option]] = str(ast.literal_eval(shown))
    given = {name: value for section in SECTIONS for name, value in found[section].items()}
    # As pip does it, any index may have the file, and the system says whom to trust. Safe, since each file is hashed.
    settings = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_SYSTEM_CERTS": "1"}
    return settings | {name: SEPARATORS.get(name, " ").join(value.split()) for name, value in given.items()}


def run_uv(command: list[str], environment: Mapping[str, str]) -> bool:
    """Shows each download as it begins, and the rest only if it fails."""
    said = []
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            said.append(line)
            if re.match(r"Downloading |   Building \S+==", line):
                print(f"    {line.strip()}", flush=True)
    if process.returncode:
        sys.stderr.writelines(said)
    return process.returncode == 0


def shown_if_it_fails(command: list[str]) -> bool:
    """Whether it succeeded; what it said is of interest only if not."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout)
    return done.returncode == 0


def works(command: list[str]) -> bool:
    """Whether the command is there and succeeds."""
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def say(step: str) -> None:
    """A line for each step."""
    print(f"  {step}", flush=True)


def install(name: str, root: Path) -> None:
    """All that is wanted under the name; the client with the engine."""
    wanted = WANTED[name]
    environment = Environment(root / wanted.folder, root / HOME)
    environment.make()
    with_uv = environment.has_uv(ROOT / "requirements-uv.txt")
    say(f"Installing what {wanted.said} (about {wanted.seconds} s).")
    files = [part for file in wanted.files for part in ("--requirement", file)]
    with_uv = environment.install("--require-hashes", *files, with_uv=with_uv)
    if name == "engine":
        environment.install(*CLIENT, with_uv=with_uv)


def main(arguments: list[str]) -> int:
    """The exit code; a sentence on standard error if something is missing."""
    if len(arguments) != 1 or arguments[0] not in WANTED:
        print(f"usage: python -m local.install {'|'.join(WANTED)}", file=sys.stderr)
        return 2
    began = time.monotonic()
    folder = WANTED[arguments[0]].folder
    print(f"Setting up {folder}, only this once:", flush=True)
    try:
        install(arguments[0], ROOT)
    except NotInstalledError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. The next `make` goes on where this one was.", file=sys.stderr)
        return 130
    print(f"Set up {folder} in {time.monotonic() - began:.0f} s.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
