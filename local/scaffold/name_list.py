"""The lists in template.yaml in which the names of a kind stand."""

import re
import textwrap
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from local.scaffold.kind import Kind, Refused
from operate.deploy.settled import NONE

WIDTH = 130  # characters of a line of the template
LISTED = r"[^\]]*"


@frozen(kw_only=True)
class Place:
    """Where the names stand once."""

    start: int
    end: int
    names: tuple[str, ...]
    indent: str = ""  # of a list in brackets; empty for the default of a parameter, which is a text

    @property
    def written(self) -> str:
        """The names as they are written here."""
        if not self.indent:
            return ",".join(self.names) or NONE
        lines = textwrap.wrap(
            f"{self.indent}- [{', '.join(self.names)}]",
            WIDTH,
            subsequent_indent=self.indent + 3 * " ",
            break_on_hyphens=False,
        )
        return "\n".join(lines)


@frozen(kw_only=True)
class NameList:
    """A template, and where in it the names stand. The default of a parameter may have a part of them."""

    template: str
    places: tuple[Place, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return max((place.names for place in self.places), key=len)

    @property
    def text(self) -> str:
        """The whole template again."""
        text = self.template
        for place in sorted(self.places, key=lambda one: one.start, reverse=True):
            text = text[: place.start] + place.written + text[place.end :]
        return text

    def having(self, name: str, last: Sequence[str]) -> "NameList":
        """With one name more, in its place by the alphabet; those of Delayer's own stay at the end."""
        return self._with(lambda names: (*sorted({*names, name} - set(last)), *[one for one in names if one in last]))

    def lacking(self, name: str) -> "NameList":
        """Without this name."""
        return self._with(lambda names: tuple(one for one in names if one != name))

    def _with(self, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> "NameList":
        return evolve(self, places=tuple(evolve(place, names=change(place.names)) for place in self.places))


def found_in(template: str, kind: Kind) -> NameList:
    """Raises Refused if there is no such list: then somebody has written it anew."""
    default = rf"^  {kind.parameter}:\n(?:    (?!Default)[^\n]*\n)*    Default: (?P<list>(?P<names>[^\s#]*))"
    known = rf"!EachMemberIn\n +- !Ref {kind.parameter}\n(?P<list> +- \[(?P<names>{LISTED})\])"
    otherwise = f"template.yaml has no list of names in the default of {kind.parameter}, or the rule lacks some."
    return _found(template, otherwise, default, known)


def _found(template: str, otherwise: str, *patterns: str) -> NameList:
    """The last place has all names."""
    found = [one for pattern in patterns if (one := re.search(pattern, template, re.MULTILINE))]
    places = [
        Place(start=one.start("list"), end=one.end("list"), names=_names(one["names"]), indent=_indent(one["list"]))
        for one in found
    ]
    if len(places) < len(patterns) or not all(set(place.names) <= set(places[-1].names) for place in places):
        raise Refused(otherwise)
    return NameList(template=template, places=tuple(places))


def _indent(listed: str) -> str:
    return listed[: len(listed) - len(listed.lstrip(" "))]


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip() not in ("", NONE))
