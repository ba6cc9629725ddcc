"""Checks what a deployed stack promises, by using it (docs/operate/verify.md)."""

from delayer_client.operator.verify.options import LONGEST_BATCH, PARTS, Options
from delayer_client.operator.verify.results.findings import Finding, Lateness, Outcome
from delayer_client.operator.verify.results.report import Report
from delayer_client.operator.verify.verification import Verification

__all__ = ["LONGEST_BATCH", "PARTS", "Finding", "Lateness", "Options", "Outcome", "Report", "Verification"]
