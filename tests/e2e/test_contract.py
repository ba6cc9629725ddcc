"""The contract and the engine are one: whatever is asked, the answer is one that `openapi.yaml` allows."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from local.receiver import Receiver
from tests.e2e.client import Client, EngineClient
from tests.e2e.engine import UNREACHED, RunningEngine

ROOT = Path(__file__).parents[2]
CALLS = sum(
    len({*item} - {"parameters"}) for item in yaml.safe_load((ROOT / "openapi.yaml").read_text())["paths"].values()
)
EXAMPLES = (
    350 // CALLS
)  # of each call and kind, however many calls there are; more with `st` by hand, see docs/use/api.md


@pytest.fixture
def client(tmp_path: Path, receiver: Receiver) -> Iterator[Client]:
    """Of an engine that has the actions of AWS, too. Nothing of what a series does at once arrives."""
    with (
        RunningEngine(tmp_path / "data", settings=UNREACHED) as engine,
        closing(EngineClient(engine, receiver, "e2e-contract")) as client,
    ):
        yield client


@pytest.mark.thorough
def test_schemathesis_finds_nothing(client: Client) -> None:
    """All its checks: examples, edges, made-up requests good and bad, and calls one after the other.

    But for `use_after_free`: what was cancelled does not vanish, it is shown as cancelled (ADR 0040). It takes minutes:
    there are thousands of requests.
    """
    settings = ["--config-file", "tests/e2e/contract/schemathesis.toml"]
    extent = ["--checks", "all", "--exclude-checks", "use_after_free", "--max-examples", str(EXAMPLES), "--no-color"]
    st = Path(sys.executable).parent / "st"
    reported = subprocess.run(
        [
            st,
            *settings,
            "run",
            "openapi.yaml",
            "--url",
            client.api_url,
            "-H",
            f"Delayer-Owner: {client.owner}",
            *extent,
        ],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
        capture_output=True,
        text=True,
        timeout=840,  # shorter than faulthandler_timeout, which ends the whole process
        check=False,
    )
    assert reported.returncode == 0, reported.stdout + reported.stderr
    assert "Stateful" in reported.stdout
