"""The patches for MiniStack fit the version that is installed, and the page beside them names each."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import ministack
import pytest

from local.project import PROJECT

FOLDER = PROJECT / "local/upstream"
PATCHES = sorted(FOLDER.glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: str(patch.name))
def test_it_applies(patch: Path) -> None:
    """In a copy of the files that it names: git takes none that is outside of a repository that it knows."""
    installed = Path(ministack.__file__).parent.parent
    named = [line.removeprefix("--- a/") for line in patch.read_text().splitlines() if line.startswith("--- a/")]
    assert named
    with tempfile.TemporaryDirectory() as folder:
        for name in named:
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(installed / name, target)
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
        done = subprocess.run(["git", "apply", "--check", str(patch)], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_is_described() -> None:
    text = (FOLDER / "README.md").read_text()
    assert PATCHES
    assert [patch.name for patch in PATCHES if f"`{patch.name}`" not in text] == []
