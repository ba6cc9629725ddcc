"""The README is short, and its first commands are targets of the Makefile."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_is_under_100_lines() -> None:
    assert len(README.splitlines()) < 100


def test_the_two_commands_come_first() -> None:
    assert re.findall(r"^make (\w+)", README, re.MULTILINE)[:2] == ["local", "test"]


def test_every_make_target_that_a_text_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "adr").glob("*.md")]
    named = {
        target
        for text in texts
        for code in re.findall(r"`make [^`]*`|^make .*$", text.read_text(), re.MULTILINE)
        for target in re.findall(r"make ([a-z-]+)", code)
    }
    assert named <= targets


def test_every_function_in_the_picture_exists() -> None:
    picture = README.split("```text")[1].split("```")[0]
    named = re.findall(r"\b(?:api|stream|task|delayer|executor)-[a-z0-9-]+", picture)
    assert [name for name in named if not (ROOT / "functions" / name).is_dir()] == []


def test_examples_reach_the_receiver_of_make_local() -> None:
    """It is at the port of the API and two more."""
    port = int(re.findall(r"^PORT \?= (\d+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[0]) + 2
    texts = [ROOT / "README.md", ROOT / "openapi.yaml", *(ROOT / "docs").rglob("*.md")]
    ports = {found for text in texts for found in re.findall(r"http://127\.0\.0\.1:(\d+)/hook", text.read_text())}
    assert ports == {str(port)}


def test_the_promise_once_has_its_exception() -> None:
    """An attempt whose outcome was not written is made again."""
    assert "There is one exception" in README.split("**Handed over once.**")[1].split("\n5. ")[0]
