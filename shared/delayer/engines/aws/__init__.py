"""The engines on AWS, and the only room that imports botocore beside the targets and `lambdas`."""

from delayer.engines.aws import start

start.rest()  # until Telemetry has a handler
