"""Performs `make deploy` in a copy of the tree, with a SAM CLI of its own, against the stub."""

import io
import json
import os
import pty
import select
import shutil
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

from attrs import define, field

from tests.cfn import ROOT
from tests.deployment.stub import Account, Deployment

COPIED = (
    "Makefile",
    "template.yaml",
    "samconfig.toml",
    "functions",
    "shared",
    "operate",
    "local",
    "client/pyproject.toml",
)
LONGEST = 280.0  # seconds of one command
TRANSLATE = """
import json, sys, yaml
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import intrinsics_multi_constructor
class Loader(yaml.SafeLoader): pass
Loader.add_multi_constructor("!", intrinsics_multi_constructor)
class NoManagedPolicies:
    def load(self): return {}
print(json.dumps(transform(yaml.load(sys.stdin.read(), Loader), {}, NoManagedPolicies())))
"""


@define(kw_only=True)
class Project:
    """The copy, and the account to which it deploys."""

    folder: Path
    sam: Path  # the environment of the SAM CLI
    url: str  # of the stub
    account: Account
    said: list[str] = field(factory=list)

    @classmethod
    def copied(cls, folder: Path, sam: Path, url: str, account: Account) -> "Project":
        """With the environment of this one, and a folder with sam alone: its own has a Python without pip."""
        names = [*COPIED, *(file.name for file in ROOT.glob("requirements-*.txt"))]
        for name in names:
            target = folder / "project" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, target)
        (folder / "project/.venv").symlink_to(ROOT / ".venv")
        (folder / "bin").mkdir()
        (folder / "bin/sam").symlink_to(sam / "bin/sam")
        return cls(folder=folder, sam=sam, url=url, account=account)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the person's own account."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {
            **own,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache/pip")),
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "AKIASTUB",
            "AWS_SECRET_ACCESS_KEY": "stub",
            "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
            "SAM_CLI_TELEMETRY": "0",
            "SAM_CLI_POLL_DELAY": "0.1",
        }

    def make_deploy(self, *given: str, enters: int = 0) -> Deployment:
        """What CloudFormation was asked for. With `enters`, on a terminal on which only Enter is typed."""
        command = ["make", "--no-print-directory", "deploy", *given]
        status, said = self.on_a_terminal(command, enters) if enters else self.without_one(command)
        self.said.append(said)
        assert status == 0, said[-4000:]
        return self.account.deployments[-1]

    def without_one(self, command: list[str]) -> tuple[int, str]:
        """As in CI."""
        done = subprocess.run(
            command,
            cwd=self.folder / "project",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        return done.returncode, done.stdout

    def on_a_terminal(self, command: list[str], enters: int) -> tuple[int, str]:
        """So many times Enter, and then nothing more: a further question would wait until the time is over."""
        ours, its = pty.openpty()
        process = subprocess.Popen(
            command, cwd=self.folder / "project", env=self.environment, stdin=its, stdout=its, stderr=its
        )
        os.close(its)
        os.write(ours, b"\n" * enters)
        said, deadline = b"", time.monotonic() + LONGEST
        try:
            while process.poll() is None or select.select([ours], [], [], 0)[0]:
                if time.monotonic() > deadline:
                    process.kill()
                    break
                if select.select([ours], [], [], 0.2)[0]:
                    said += os.read(ours, 65536)
        except OSError:  # Linux's way to say that the other side is closed
            pass
        finally:
            os.close(ours)
        return process.wait(), said.decode(errors="replace").replace("\r\n", "\n")

    def archive(self, address: str) -> zipfile.ZipFile:
        """What is at this address."""
        return zipfile.ZipFile(io.BytesIO(self.account.objects[address.partition("://")[2].partition("/")[2]]))

    def names_in(self, address: str) -> list[str]:
        """What is in the archive at this address."""
        return self.archive(address).namelist()

    def translated(self, template: str) -> dict[str, Any]:
        """What the transform of SAM makes of it, in the version that this SAM CLI has."""
        done = subprocess.run(
            [str(self.sam / "bin/python"), "-c", TRANSLATE],
            input=template,
            env={**self.environment, "AWS_DEFAULT_REGION": "eu-west-1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        made: dict[str, Any] = json.loads(done.stdout)
        return made
