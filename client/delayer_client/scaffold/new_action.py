"""Makes the folder of a new action for `delayer serve --actions`."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from delayer_client.scaffold import (
    APP,
    OF_EXECUTORS,
    README,
    TEST,
    Surroundings,
    class_name,
    has_a_meaning,
    module_name,
    texts,
)

INTO: Final = "my-actions"
EXAMPLE: Final = "slack-post"
OF_FOLDERS: Final = ("executor-", "policy-", "subscriber-")  # what the engine has below --actions


class NotMade(Exception):
    """The text says why, and what to do. Nothing was written."""


@frozen(kw_only=True)
class NameRules:
    """Says what the engine takes."""

    pattern: re.Pattern[str]
    longest: int  # characters
    taken: Mapping[str, object]  # by actions that are built in

    def check(self, name: str) -> None:
        """Raises NotMade."""
        if not self.pattern.fullmatch(name):
            raise NotMade(
                f"{name!r} cannot be the name of an action. Use lower-case letters and digits, with single hyphens "
                f"between the words, and a letter first: {EXAMPLE}"
            )
        if len(name) > self.longest:
            raise NotMade(f"{name} has {len(name)} characters, and {self.longest} are the most. Choose a shorter name.")
        if name.startswith(OF_FOLDERS):
            raise NotMade(f"The folder {name} would not be taken for an action of this name. Leave out the first word.")
        if name in self.taken:
            raise NotMade(f"There is a built-in action {name}. Choose another name.")
        if has_a_meaning(class_name(name), OF_EXECUTORS):
            raise NotMade(
                f"The class of {name} would be {class_name(name)}, and this name has a meaning in Python or for its "
                f"author. Choose another name, of two words for example: {EXAMPLE}"
            )


def new_action(name: str, into: Path, rules: NameRules) -> list[Path]:
    """The files that it has written, in a folder of this name. Raises NotMade."""
    rules.check(name)
    for path in (into / name, into / f"executor-{name}"):
        if path.exists():
            raise NotMade(f"{path} is there already. Look at it, and choose another name, or remove it.")
    around = Surroundings(title=name, folder="Path(__file__).parent", standard="from pathlib import Path")
    made = texts("executor", name, around)
    names = {APP: APP, README: README, TEST: f"test_{module_name(name)}.py"}
    folder = into / name
    try:
        into.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except (NotADirectoryError, FileExistsError):
        raise NotMade(f"{into} is no folder. Name one with --into.") from None
    except OSError as error:
        raise _unwritten(folder, error) from error
    try:
        for one, file in names.items():
            (folder / file).write_text(made[one], encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _unwritten(folder, error) from error
    return [folder / file for file in names.values()]


def _unwritten(folder: Path, error: OSError) -> NotMade:
    return NotMade(f"{folder} cannot be written: {error.strerror}. Name another folder with --into.")
