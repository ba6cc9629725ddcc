"""What the use cases need from outside: one file for each port, with its rows.

Each port has an AWS adapter (`aws/`) and a fake (`fakes/`), both held to the same contract tests. A use case declares
the narrow parts that it calls; mypy checks it, and the policies of the template are compared with it (ADR 0060). A port
raises `Unavailable` when AWS did not do what was asked, or when it is not known whether it did.
"""
