"""Files with which an action, a policy or a subscriber begins, for `make new-executor` and `delayer new-action`."""

import builtins
import keyword
from collections.abc import Collection
from pathlib import Path
from string import Template
from typing import Final

from attrs import frozen

FILES: Final = Path(__file__).with_name("files")
APP, README, TEST = "app.py", "README.md", "test.py"
OF_TYPING: Final = ("Annotated", "Literal")
# What its author imports: its class must not hide that.
OF_EXECUTORS: Final = (
    *("Action", "Done", "Executor", "Message", "Meta", "Refused", "Result", "Retry", "Setting"),
    *OF_TYPING,
)
OF_POLICIES: Final = ("Asked", "At", "Chosen", "Meta", "Policy", "Refused", "Setting", *OF_TYPING)


@frozen(kw_only=True)
class Surroundings:
    """Where the files will be, as they say it."""

    title: str  # of the README
    folder: str  # in Python: how the test finds the folder of app.py
    standard: str = ""  # what the test imports for that, of Python's own
    own: str = ""  # and of the project's


def texts(word: str, name: str, around: Surroundings) -> dict[str, str]:
    """The text of app.py, README.md and test.py. `word` is executor, policy or subscriber."""
    values = {
        "name": name,
        "Class": class_name(name),
        "title": around.title,
        "folder": around.folder,
        "standard": f"\n{around.standard}\n" if around.standard else "",
        "own": f"{around.own}\n" if around.own else "",
    }
    return {one: Template((FILES / word / f"{one}.txt").read_text()).substitute(values) for one in (APP, README, TEST)}


def class_name(name: str) -> str:
    """`slack-post` is SlackPost."""
    return "".join(word.capitalize() for word in name.split("-"))


def module_name(name: str) -> str:
    """`slack-post` is slack_post."""
    return name.replace("-", "_")


def has_a_meaning(name: str, imported: Collection[str]) -> bool:
    """Whether a class of this name would hide something that its author needs, such as Exception or Retry."""
    return name in imported or keyword.iskeyword(name) or hasattr(builtins, name)
