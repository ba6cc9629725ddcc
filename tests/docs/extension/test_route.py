"""The route of the page on what else can be added is made, in a copy: what the page shows is all that it takes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cfn import ROOT, expanded_from, written
from tests.docs.blocks.fences import fences_in

PAGE = "extend/how-to.md"
BY_HAND = {
    "openapi.yaml",
    "shared/delayer/jobs/routes.py",
    "functions/api-job-done/README.md",
    "functions/api-job-done/app.py",
    "functions/api-job-done/function.yaml",
}
WRITTEN = {"template.yaml", "shared/delayer/http/contract.json"}  # by `make contract`
COPIED = ("shared", "functions", "client/delayer_client")
PROGRAM = """
import json

import httpx

from delayer_client.testing import FakeDelayer

with FakeDelayer() as fake, httpx.Client(transport=fake.transport, base_url=fake.url) as http:
    action = {"type": "http-request", "url": "https://example.com/hook"}
    http.post("/schedules", json={"delaySeconds": 60, "group": "g", "action": action}).raise_for_status()
    job = http.delete("/schedules?group=g").json()["jobId"]
    answers = [http.get(f"/jobs/{one}/done") for one in (job, "another")] + [http.post(f"/jobs/{job}/done")]
print(json.dumps([[one.status_code, one.json().get("done"), one.headers.get("allow")] for one in answers]))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What is deployed, what it is made of, and the fake."""
    for folder in COPIED:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("openapi.yaml", "template.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def texts(root: Path) -> dict[str, str]:
    """Of all files in the copy."""
    files = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def write(root: Path) -> None:
    """Each block of the page is a file, or stands at the end of one, or of the paths of the contract."""
    section = (ROOT / "docs" / PAGE).read_text().partition("\n## A route\n")[2]
    for block in fences_in(PAGE, section):
        name, _, where = block.title.partition(", ")
        path = root / name
        path.parent.mkdir(exist_ok=True)
        before = path.read_text() if path.exists() else ""
        if where == "at the end of paths":
            paths, components, rest = before.partition("\ncomponents:\n")
            path.write_text(f"{paths}\n{block.text.rstrip()}{components}{rest}")
        else:
            path.write_text(f"{before}\n\n{block.text}" if where == "at its end" else block.text)


def run(root: Path, *arguments: str) -> str:
    """Python in the copy, which knows nothing of this project."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "shared"), str(root / "client")])}
    command = [sys.executable, "-B", *arguments]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_route_is_three_places(copy: Path) -> None:
    """It takes some seconds: the contract is made anew, and a fake started.

    The function is deployed with its own rights, the route leads to it, and it answers.
    """
    before = texts(copy)
    write(copy)
    run(copy, "shared/contract.py")
    after = texts(copy)
    assert {name for name in after if after[name] != before.get(name)} == BY_HAND | WRITTEN
    was, now = (expanded_from(written(root / "template.yaml"), {})["Resources"] for root in (ROOT, copy))
    added = {name: now[name] for name in now if name not in was}
    assert {name: one for name, one in now.items() if name in was} == was, "nothing else changes"
    assert set(added) == {"ApiJobDone", "ApiJobDoneRole", "ApiJobDoneIntegration", "GetJobDoneRoute"}
    assert added["GetJobDoneRoute"]["Properties"]["RouteKey"] == "GET /jobs/{id}/done"
    assert added["ApiJobDoneIntegration"]["Properties"]["TimeoutInMillis"] == 12_000
    [policy] = added["ApiJobDoneRole"]["Properties"]["Policies"]
    own = [one["Action"] for one in policy["PolicyDocument"]["Statement"]]
    assert own == [["logs:CreateLogStream", "logs:PutLogEvents"], ["dynamodb:GetItem"]]
    assert json.loads(run(copy, "-c", PROGRAM)) == [[200, True, None], [404, None, None], [405, None, "GET"]]


def test_a_function_without_its_file_is_named(copy: Path) -> None:
    write(copy)
    (copy / "functions/api-job-done/function.yaml").write_text("Variables: {<<: *asked}\n")
    with pytest.raises(AssertionError, match=r"api-job-done/function\.yaml is not a comment that says what it does"):
        run(copy, "shared/contract.py")
    (copy / "functions/api-job-done/function.yaml").unlink()
    with pytest.raises(AssertionError, match=r"api-job-done/function\.yaml is missing"):
        run(copy, "shared/contract.py")
