"""Looks at a running stack, and says in plain words what is wrong and what to do."""

from delayer_client.operator.doctor.catalogue import CATALOGUE
from delayer_client.operator.doctor.doctor import Doctor
from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.finding import Finding, Severity, as_dict, as_dicts, worst

__all__ = ["CATALOGUE", "Doctor", "Entry", "Finding", "Severity", "as_dict", "as_dicts", "worst"]
