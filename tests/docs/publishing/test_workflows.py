"""The workflow files can be read, ask for no more than they need, and set what mkdocs.yml reads."""

import re
from typing import Any

import yaml

from tests.cfn import ROOT
from tests.running.of_each import of_each

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+(\.\d+)*")

each = of_each(WORKFLOWS)


def read(name: str) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows" / name).read_text())
    return parsed


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@each
def test_each_action_is_pinned_by_its_commit(file: Any) -> None:
    used = re.findall(r"uses: (.+)", file.read_text())
    assert used
    assert [one for one in used if not PINNED.fullmatch(one)] == []


@each
def test_may_read_the_repository_and_nothing_else_unless_a_job_says_so(file: Any) -> None:
    assert read(file.name)["permissions"] == {"contents": "read"}


@each
def test_two_runs_do_not_meet_and_none_runs_for_hours(file: Any) -> None:
    workflow = read(file.name)
    assert "github.ref" in workflow["concurrency"]["group"]
    assert [job for job in workflow["jobs"].values() if job["timeout-minutes"] > 60] == []


@each
def test_runs_for_main_and_for_what_is_to_be_merged(file: Any) -> None:
    events = yaml.safe_load(file.read_text().replace("\non:", '\n"on":'))["on"]  # YAML takes this word for a truth
    assert events["push"] == {"branches": ["main"]}
    assert "pull_request" in events


def test_what_checks_a_commit_is_the_command_of_the_repository() -> None:
    [command] = [step["run"] for step in steps(read("ci.yml")) if "run" in step]
    assert (ROOT / command).is_file()


def test_only_main_is_published_and_only_the_job_that_publishes_may() -> None:
    jobs = read("docs.yml")["jobs"]
    assert jobs["publish"]["if"] == "github.ref == 'refs/heads/main'"
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert "permissions" not in jobs["build"]


def test_the_site_is_built_strictly_from_the_variables_that_mkdocs_reads() -> None:
    [build] = [step for step in steps(read("docs.yml")) if "run" in step]
    assert build["run"] == "make docs"
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text()
    variables = set(re.findall(r"!ENV \[(\w+)", (ROOT / "mkdocs.yml").read_text()))
    assert set(build["env"]) == variables == {"SITE_URL", "REPO_URL", "REPO_REF"}
    for name in ("SITE_URL", "REPO_URL"):
        assert f"vars.{name} || " in build["env"][name]
