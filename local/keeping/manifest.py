"""The manifest describes a saved state, before its contents: who has saved it, when, and from what."""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Self

from attrs import asdict, field, frozen

from local.errors import EmulatorError
from local.project import PROJECT

FORMAT: Final = 1
# Of the emulator. The contents are in the form in which it has them in its memory: whoever takes another version
# compares the two, and adds it here, or raises FORMAT and writes down how the old one is upgraded.
READABLE: Final = frozenset({"1.5.33"})


@cache
def version_of_delayer() -> str:
    """As in pyproject.toml."""
    with (PROJECT / "pyproject.toml").open("rb") as file:
        version: str = tomllib.load(file)["project"]["version"]
        return version


@frozen(kw_only=True)
class Manifest:
    """The first line of a saved state."""

    format: int = FORMAT
    delayer: str = field(factory=version_of_delayer)  # the version that has saved it
    emulator: str  # ministack's version
    run: str  # the id of the run that has saved it
    saved_at: int  # epoch seconds
    port: int  # of the API; addresses of queues have the one after it
    stack: str  # the unique part of the stack's id: names of queues and secrets come from it
    parameters: Mapping[str, str] = field(factory=dict)  # of the template, as they were given
    waiting: int = 0  # schedules, in tables and on their way
    carried: int = 0  # stream records that no function has handled yet
    digest: str = ""  # SHA-256 of the contents

    def written(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def read(cls, content: object) -> Self:
        """From JSON. EmulatorError with the reason if this version of Delayer cannot take the state."""
        if not isinstance(content, dict) or not isinstance(content.get("format"), int):
            raise EmulatorError("it does not begin with a manifest")
        if content["format"] != FORMAT:
            raise EmulatorError(f"it has the format {content['format']}, and this version of Delayer reads {FORMAT}")
        try:
            manifest = cls(**content)
        except TypeError:
            raise EmulatorError("its manifest is not complete") from None
        manifest.check()
        return manifest

    def check(self) -> None:
        """EmulatorError if newer code has written it: older code must not guess what newer code means (ADR 0038)."""
        if numbers_of(self.delayer) > numbers_of(version_of_delayer()):
            raise EmulatorError(f"Delayer {self.delayer} has saved it, and this is the older {version_of_delayer()}")
        if self.emulator not in READABLE:
            known = ", ".join(sorted(READABLE))
            raise EmulatorError(f"the emulator {self.emulator} has saved it, and this one reads what {known} has saved")


def numbers_of(version: str) -> tuple[int, ...]:
    """Of a version, to compare it."""
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))
