"""The only place that composes: `build(Enqueue, ports)` fills each field with the part of its name (ADR 0174).

The functions, the tests' world and the simulation's stack all call it: what they prove is what runs.
"""
