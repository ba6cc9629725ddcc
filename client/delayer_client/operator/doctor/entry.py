"""The kinds of findings. The page docs/operate/doctor.md shows their table."""

from dataclasses import dataclass
from typing import Any

from delayer_client.operator.doctor.finding import Finding, Severity


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One kind. Called with what was found, it makes the finding."""

    code: str  # never changes its meaning: scripts go by it
    severity: Severity
    area: str
    means: str
    do: str = ""  # empty if nothing has to be done
    link: str = ""  # a page of the documentation and its anchor

    def __call__(self, what: str, *, about: str = "", do: str = "", link: str = "", **data: Any) -> Finding:
        """States a fact, with its figures; `do` and `link` for what is known better in this case."""
        return Finding(
            code=self.code,
            severity=self.severity,
            area=self.area,
            what=printable(what),
            do=do or self.do,
            link=link or self.link,
            about=printable(about),
            data=data,
        )


def printable(text: str) -> str:
    """Reasons and owners may quote what others sent: nothing in them may command a terminal."""
    return "".join(one if one.isprintable() else "?" for one in text)
