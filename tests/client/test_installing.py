"""No page, message or README names a package to install that is not published: anybody may register its name."""

import re
import tomllib

import pytest

from tests.cfn import ROOT

COMMAND = re.compile(r"(?:\b(?:pip3?|pipx|uv pip|uv tool|poetry) (?:install|add|run|inject)|\buvx) ([^\n|#;)`&]*)")
NAME = re.compile(r"[A-Za-z][\w.-]*(?:\[.*\])?(?:[=<>~!].*)?")
TEXTS = (".md", ".py", ".html", ".yaml", ".toml", ".in", ".js", "Makefile")
FOLDERS = ("adr", "bench", "client", "docs", "examples", "functions", "local", "operate", "shared")
OURS = tomllib.loads((ROOT / "client/pyproject.toml").read_text())["project"]["name"]
# What the files of requirements pin is published, and so is what these messages name.
PUBLISHED = {"socksio", "tzdata", "pip"} | {
    line.split("==")[0].strip().lower()
    for path in ROOT.glob("requirements*.txt")
    for line in path.read_text().splitlines()
    if "==" in line and line[0].isalpha()
}


def unpublished(text: str) -> list[str]:
    """The names that a text tells to install, and that are neither published nor a path."""
    found = [word for match in COMMAND.finditer(text) for word in match[1].replace('"', "").split()]
    names = [word.strip("'.,:") for word in found if not word.startswith("-")]
    bare = [word for word in names if NAME.fullmatch(word) and "/" not in word.partition("[")[0]]
    wrong = [word for word in bare if re.split(r"[\[=<>~!]", word)[0].lower() not in PUBLISHED]
    return wrong + re.findall(rf"{OURS}\[.*?\]|[Ii]nstall {OURS}\b", text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"pip install '{OURS}[cli]'", [f"{OURS}[cli]", f"{OURS}[cli]"]),
        (f"To sign, install {OURS}.", [f"install {OURS}"]),
        ("`uv tool install some-name==1.0`", ["some-name==1.0"]),
        ("uvx some-name", ["some-name"]),
        ('pipx install "./client[aws,cli]"   # the command', []),
        ("pip install --upgrade boto3 ./client client/dist/it-0.1.0-py3-none-any.whl", []),
        ("pip installs them, which takes minutes.", []),
    ],
)
def test_names_are_found(text: str, names: list[str]) -> None:
    assert unpublished(text) == names


def test_nothing_names_a_package_that_anybody_could_register() -> None:
    """Until it is published, ours is named by its path."""
    found = [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    texts = [path for path in found if path.name.endswith(TEXTS) and not {"assets", "vendored"} & set(path.parts)]
    assert ROOT / "client/README.md" in texts
    wrong = {str(path): names for path in texts if (names := unpublished(path.read_text(encoding="utf-8")))}
    assert wrong == {}
