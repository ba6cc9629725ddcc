"""The lists in template.yaml in which the names of a kind stand."""

import re
import textwrap
from collections.abc import Sequence

from attrs import evolve, frozen

from local.scaffold.kind import Kind, Refused

WIDTH = 130  # characters of a line of the template
LISTED = r"[^\]]*"


@frozen(kw_only=True)
class Place:
    """Where the names stand once."""

    start: int
    end: int
    indent: str = ""  # of a list in brackets; empty for the default of a parameter, which is a text

    def written(self, names: Sequence[str]) -> str:
        """The names as they are written here."""
        if not self.indent:
            return ",".join(names)
        lines = textwrap.wrap(
            f"{self.indent}- [{', '.join(names)}]",
            WIDTH,
            subsequent_indent=self.indent + 3 * " ",
            break_on_hyphens=False,
        )
        return "\n".join(lines)


@frozen(kw_only=True)
class NameList:
    """A template, and where in it the names stand."""

    template: str
    names: tuple[str, ...]
    places: tuple[Place, ...]

    @property
    def text(self) -> str:
        """The whole template again."""
        text = self.template
        for place in sorted(self.places, key=lambda one: one.start, reverse=True):
            text = text[: place.start] + place.written(self.names) + text[place.end :]
        return text

    def having(self, name: str, last: Sequence[str]) -> "NameList":
        """With one name more, in its place by the alphabet; those of Delayer's own stay at the end."""
        own = [one for one in self.names if one in last]
        return evolve(self, names=(*sorted({*self.names, name} - set(last)), *own))

    def lacking(self, name: str) -> "NameList":
        """Without this name."""
        return evolve(self, names=tuple(one for one in self.names if one != name))


def found_in(template: str, kind: Kind) -> NameList:
    """Raises Refused if there is no such list: then somebody has written it anew."""
    if not kind.parameter:
        pattern = rf"^  {kind.loop}:\n(?:    #[^\n]*\n)*    - \w+\n(?P<list>    - \[(?P<names>{LISTED})\])"
        return _found(template, f"template.yaml has no list of names in {kind.loop}.", pattern)
    default = rf"^  {kind.parameter}:\n(?:    (?!Default)[^\n]*\n)*    Default: (?P<list>(?P<names>[^\s#]*))"
    known = rf"!EachMemberIn\n +- !Ref {kind.parameter}\n(?P<list> +- \[(?P<names>{LISTED})\])"
    otherwise = f"template.yaml has no list of names in the default of {kind.parameter}, or another one in a rule."
    return _found(template, otherwise, default, known)


def _found(template: str, otherwise: str, *patterns: str) -> NameList:
    """All places have the same names."""
    found = [re.search(pattern, template, re.MULTILINE) for pattern in patterns]
    lists = {_names(one["names"]) for one in found if one}
    if None in found or len(lists) != 1:
        raise Refused(otherwise)
    places = [Place(start=one.start("list"), end=one.end("list"), indent=_indent(one["list"])) for one in found if one]
    return NameList(template=template, names=lists.pop(), places=tuple(places))


def _indent(listed: str) -> str:
    return listed[: len(listed) - len(listed.lstrip(" "))]


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())
