"""Looks at a running stack, and says in plain words what is wrong and what to do."""

from delayer_client.operator.doctor.finding import Finding, Severity, as_dict, as_dicts, worst

__all__ = ["Finding", "Severity", "as_dict", "as_dicts", "worst"]
