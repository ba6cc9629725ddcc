"""The measurements: what each part of a run measures, and its figures."""
