"""What failed in the functions of a stack while a test ran: shown where nobody can look at their logs."""

from pathlib import Path

from attrs import define, field

TELLING = ("FAILED:", '"ERROR"', '"WARNING"')
MOST_LINES = 40


def lengths(logs: Path) -> dict[str, int]:
    """How long the log of each function is, in bytes."""
    return {file.stem: file.stat().st_size for file in logs.glob("*.log")}


@define
class Meanwhile:
    """What is written into the folder of logs from now on."""

    logs: Path
    before: dict[str, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.before = lengths(self.logs)

    def failures(self) -> str:
        """The lines that tell of one, each with its function; the first of them, if they are many."""
        found = []
        for function in sorted(lengths(self.logs)):
            text = (self.logs / f"{function}.log").read_bytes()[self.before.get(function, 0) :].decode(errors="replace")
            found += [f"{function}: {line}" for line in text.splitlines() if any(word in line for word in TELLING)]
        return "\n".join(found[:MOST_LINES])
