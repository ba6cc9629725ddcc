"""The only place that composes: one factory for each use case takes a bundle of ports (ADR 0058).

The functions, the tests' world and the simulation's stack all call these factories: what they prove is what runs.
"""
