"""The one list in template.yaml in which the names of a kind stand."""

import re
import textwrap
from collections.abc import Sequence

from attrs import evolve, frozen

from local.scaffold.kind import Kind, Refused

WIDTH = 130  # characters of a line of the template


@frozen(kw_only=True)
class NameList:
    """A template, cut at a list."""

    before: str
    names: tuple[str, ...]
    after: str

    @property
    def text(self) -> str:
        """The whole template again."""
        one_line = f"    - [{', '.join(self.names)}]"
        lines = textwrap.wrap(one_line, WIDTH, subsequent_indent=7 * " ", break_on_hyphens=False)
        return self.before + "\n".join(lines) + self.after

    def having(self, name: str, last: Sequence[str]) -> "NameList":
        """With one name more, in its place by the alphabet; those of Delayer's own stay at the end."""
        own = [one for one in self.names if one in last]
        return evolve(self, names=(*sorted({*self.names, name} - set(last)), *own))

    def lacking(self, name: str) -> "NameList":
        """Without this name."""
        return evolve(self, names=tuple(one for one in self.names if one != name))


def found_in(template: str, kind: Kind) -> NameList:
    """Raises Refused if there is no such list: then somebody has written the loop anew."""
    pattern = rf"(?P<before>.*^  {kind.loop}:\n(?:    #[^\n]*\n)*    - \w+\n)    - \[(?P<names>[^\]]*)\](?P<after>.*)"
    found = re.fullmatch(pattern, template, re.DOTALL | re.MULTILINE)
    if not found:
        raise Refused(f"template.yaml has no list of names in {kind.loop}.")
    names = tuple(name.strip() for name in found["names"].split(",") if name.strip())
    return NameList(before=found["before"], names=names, after=found["after"])
