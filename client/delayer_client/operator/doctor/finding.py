"""The doctor says in one sentence each what it has found, and what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """From the best to the worst; `unknown` says that the doctor could not look."""

    OK = "ok"
    NOTE = "note"  # meant so, or over soon by itself
    UNKNOWN = "unknown"
    WARNING = "warning"  # somebody should look at it
    PROBLEM = "problem"  # schedules do not fire, or will be lost, or the API does not serve


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One row of the report."""

    code: str  # stable: a key of the table in docs/operate/doctor.md
    severity: Severity
    area: str  # what was looked at, as in AREAS
    what: str  # in plain words
    do: str = ""  # empty if nothing has to be done
    link: str = ""  # a page of the documentation and its anchor, such as operate/runbook.md#failedalarm
    about: str = ""  # the resource, the owner or the target; empty if it is about the whole
    data: Mapping[str, Any] = field(default_factory=dict)  # the figures behind it


def as_dict(finding: Finding) -> dict[str, Any]:
    """For --json: every field, always there."""
    return {**vars(finding), "severity": str(finding.severity), "data": dict(finding.data)}


def as_dicts(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """For --json, in their order."""
    return [as_dict(finding) for finding in findings]


def worst(findings: Iterable[Finding]) -> Severity:
    """The worst of all; ok without any."""
    order = list(Severity)
    return max((finding.severity for finding in findings), key=order.index, default=Severity.OK)
