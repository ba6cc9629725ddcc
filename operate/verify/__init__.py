"""`python -m operate.verify`: the command line of `delayer_client.operator.verify`."""
