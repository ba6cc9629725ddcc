"""What a Lambda execution environment offers: clients, time, threads, settings, logs and metrics."""

from delayer.aws.start import collector

collector.rest()  # until Telemetry has a handler
