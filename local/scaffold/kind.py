"""The three kinds of functions that a team adds, and the rules of their names."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from attrs import frozen

from delayer_client.scaffold import OF_EXECUTORS, OF_POLICIES, class_name, has_a_meaning, module_name
from operate.deploy.settled import NONE

FUNCTION_NAME: Final = 64  # characters, of Lambda's names; one is `<stack>-<kind>-<name>`
NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Refused(Exception):
    """The command cannot be carried out; the text says why, and what to do."""


@frozen(kw_only=True)
class Kind:
    """Executors, subscribers, or policies."""

    word: str  # the folder of one is functions/<word>-<name>
    loop: str  # in template.yaml
    parameter: str  # whose rule has the names of them all, and whose default those of most stacks
    example: str  # of a name
    last: tuple[str, ...] = ()  # names that are Delayer's own; they stand at the end of the list
    imported: tuple[str, ...] = ()  # what its author imports, and its class must not hide; empty: it has no class

    @property
    def has_class(self) -> bool:
        """Whether `openapi.yaml` and the layer are made of its class."""
        return bool(self.imported)

    @property
    def table(self) -> str:
        """In the Mappings of template.yaml: what one of them alone needs. It is called like the loop."""
        return self.loop.rpartition(":")[2]

    def folder(self, root: Path, name: str) -> Path:
        """Of the function."""
        return root / "functions" / f"{self.word}-{name}"

    def test(self, root: Path, name: str) -> Path:
        """Of the function."""
        return root / "tests/functions" / f"test_{self.word}_{module_name(name)}.py"

    def _check_word(self, name: str) -> None:
        if not name:
            raise Refused(f"Give a name: make new-{self.word} NAME={self.example}")
        if not NAME.fullmatch(name):
            raise Refused(
                f"{name!r} cannot be a name. Use lower-case letters and digits, with single hyphens between the words, "
                f"and a letter first: {self.example}"
            )
        if name == NONE:
            raise Refused(f"{name!r} is the word for a list without a name. Choose another name.")

    def check(self, name: str, known: Collection[str], longest_stack: int) -> None:
        """Raises Refused if there can be no new one of this name."""
        self._check_word(name)
        if name in self.last:
            raise Refused(f"{name} is Delayer's own {self.word}. Choose another name.")
        if name in known:
            raise Refused(f"There is already {self.word}-{name}, in functions/{self.word}-{name}.")
        if alike := [one for one in known if _joined(one) == _joined(name)]:
            raise Refused(
                f"{name} differs from {alike[0]} in its hyphens alone, and the names of resources have none. "
                "Choose another name."
            )
        longest = FUNCTION_NAME - longest_stack - len(f"-{self.word}-")
        if len(name) > longest:
            raise Refused(
                f"{name} has {len(name)} characters, and {longest} are the most: the function's name holds the name of "
                f"the stack, {longest_stack} characters at most, and Lambda takes {FUNCTION_NAME}."
            )
        if self.imported and has_a_meaning(class_name(name), self.imported):
            raise Refused(
                f"Its class would be {class_name(name)}, and this name has a meaning in Python or for its author. "
                f"Choose another name, of two words for example: {self.example}"
            )


def _joined(name: str) -> str:
    return name.replace("-", "")


EXECUTOR: Final = Kind(
    word="executor",
    loop="Fn::ForEach::Executors",
    parameter="Actions",
    example="slack-post",
    last=("remote", "canary"),
    imported=OF_EXECUTORS,
)
SUBSCRIBER: Final = Kind(
    word="subscriber", loop="Fn::ForEach::Subscribers", parameter="Subscribers", example="big-spenders"
)
POLICY: Final = Kind(
    word="policy",
    loop="Fn::ForEach::Policies",
    parameter="Policies",
    example="next-full-hour",
    imported=OF_POLICIES,
)
