"""Looks at a running stack, or an engine, and says in plain words what is wrong and what to do."""

from typing import TYPE_CHECKING

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.finding import Finding, Severity, as_dict, as_dicts, worst
from delayer_client.operator.later import later

if TYPE_CHECKING:
    from delayer_client.operator.doctor.catalogue import CATALOGUE
    from delayer_client.operator.doctor.doctor import Doctor
else:
    __getattr__ = later(__name__, {"CATALOGUE": "catalogue", "Doctor": "doctor"})

__all__ = ["CATALOGUE", "Doctor", "Entry", "Finding", "Severity", "as_dict", "as_dicts", "worst"]
