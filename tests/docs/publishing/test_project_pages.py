"""What the pages of the project say of versions, of the layout and of the predecessor is so."""

import re
import tomllib

from tests.cfn import ROOT, functions
from tests.docs.test_adr import FILES, body
from tests.openapi import openapi

PAGES = ROOT / "docs/project"
VERSIONS = (PAGES / "versioning.md").read_text()
PREDECESSOR = (PAGES / "predecessor.md").read_text()
CONTRIBUTING = (PAGES / "contributing.md").read_text()


def test_there_is_one_version() -> None:
    texts = [(ROOT / name).read_text() for name in ("pyproject.toml", "client/pyproject.toml")]
    versions = {tomllib.loads(text)["project"]["version"] for text in texts}
    assert versions == {openapi()["info"]["version"]}


def test_the_versions_of_python_are_those_of_the_code() -> None:
    client = tomllib.loads((ROOT / "client/pyproject.toml").read_text())["project"]["requires-python"]
    below = re.findall(r"not \((\d+, \d+)\) <= sys.version_info < \((\d+, \d+)\)", (ROOT / "Makefile").read_text())
    assert (client, below) == (">=3.11", [("3, 11", "3, 14")])
    assert "| Python 3.11 to 3.13 |" in VERSIONS
    for function in functions().values():
        assert f"`{function.get('Runtime', 'python3.13')}`" in VERSIONS


def test_what_is_deprecated_is_said() -> None:
    """The page says that nothing is."""
    assert ("deprecated: true" in (ROOT / "openapi.yaml").read_text()) != ("Nothing is deprecated now." in VERSIONS)


def test_each_record_that_judges_the_predecessor_is_on_its_page_and_on_the_right_side() -> None:
    followed, others = PREDECESSOR.split("\n## Followed in part\n")
    for file in FILES:
        for word, side in (("Follows", followed), ("Leaves", others)):
            if f"\n{word} the predecessor" in body(file):
                assert f"(../adr/{file.name})" in side, file.name


def test_each_decision_of_the_predecessor_has_its_reason_and_its_record() -> None:
    sections = [part for part in PREDECESSOR.split("\n## ") if part.startswith(("Followed", "Not followed"))]
    assert len(sections) == 3
    for section in sections:
        decisions = re.findall(r"^\*\*.+\*\* \(.+\)\n:   (.+)$", section, re.MULTILINE)
        assert len(decisions) == len(re.findall(r"^\*\*", section, re.MULTILINE)) > 2
        assert [reason for reason in decisions if "(../adr/" not in reason] == []


def test_the_folders_that_contributors_are_led_to_exist() -> None:
    """And each folder of the repository is in the table."""
    table = CONTRIBUTING.split("\n## 2. Find the place\n")[1].split("\n## 3.")[0]
    named = re.findall(r"`([\w/]+/\w*|[a-z]+\.yaml)`", table)
    assert [name for name in named if not (ROOT / name).exists()] == []
    tops = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    made = {"site", "examples", "node_modules"}
    assert [top for top in sorted(tops - made) if f"`{top}/" not in table] == []


def test_the_root_leads_contributors_on() -> None:
    linked = re.findall(r"\]\(([^)]+)\)", (ROOT / "CONTRIBUTING.md").read_text())
    assert linked
    assert [target for target in linked if not (ROOT / target).is_file()] == []
