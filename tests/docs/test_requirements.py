"""Requirements are pinned and hashed, and name no package index (ADR 0027)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILED = [ROOT / "requirements-dev.txt", ROOT / "shared/requirements.txt", ROOT / "bench/peers/requirements.txt"]
WANTED = [ROOT / "requirements-dev.in", ROOT / "shared/requirements.in", ROOT / "bench/peers/requirements.in"]


@pytest.mark.parametrize("file", COMPILED, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_each_is_pinned_and_hashed(file: Path) -> None:
    joined = re.sub(r"\\\n", " ", file.read_text())
    lines = [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    assert lines
    assert [
        line for line in lines if not re.match(r"[a-z0-9._\[\],-]+==[^ ]+ .*--hash=sha256:[0-9a-f]{64}", line)
    ] == []


@pytest.mark.parametrize("file", COMPILED + WANTED, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_names_no_index(file: Path) -> None:
    assert re.findall(r"--(?:extra-)?index-url|--find-links|--trusted-host|https?://|file://", file.read_text()) == []


def test_the_emulator_is_pinned_exactly() -> None:
    """ADR 0029: it was measured in this version."""
    assert "\nministack==1.5.33\n" in (ROOT / "requirements-dev.in").read_text()
