"""The result of a run, for the program that shows it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from delayer_client.operator.verify.results.cost import Bill
from delayer_client.operator.verify.results.findings import Finding, Lateness, Outcome, exit_status


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that was found out, how late it was, and what it cost."""

    findings: tuple[Finding, ...]
    lateness: tuple[Lateness, ...]
    schedules: int  # that were created
    cents: float  # US cents, about

    @property
    def exit_status(self) -> int:
        """0 if everything that was asked for was checked and held, otherwise 1."""
        return exit_status(self.findings)

    @property
    def conclusion(self) -> str:
        """One sentence."""
        found = [finding.outcome for finding in self.findings]
        if self.exit_status == 0:
            return "Every promise that was checked holds."
        if Outcome.BROKEN in found:
            return f"{found.count(Outcome.BROKEN)} promises do not hold."
        return (
            f"{found.count(Outcome.UNCHECKED)} promises could not be checked; --skip leaves out what you do not want."
        )

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {
            "conclusion": self.conclusion,
            "findings": [asdict(one) for one in self.findings],
            "lateness": [asdict(one) for one in self.lateness],
            "schedules": self.schedules,
            "cents": round(self.cents, 2),
        }


def report_of(findings: Sequence[Finding], lateness: Sequence[Lateness], bill: Bill) -> Report:
    """Of a run that is over."""
    return Report(findings=tuple(findings), lateness=tuple(lateness), schedules=bill.schedules, cents=bill.cents())
