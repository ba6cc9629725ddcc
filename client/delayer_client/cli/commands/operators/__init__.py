"""Commands of operators, with AWS credentials."""

from delayer_client.cli.commands.operators import dead_letters, doctor, flow, importing, policy, verifying

ALL = (doctor.add, verifying.add, dead_letters.add, flow.add, policy.add, importing.add)
