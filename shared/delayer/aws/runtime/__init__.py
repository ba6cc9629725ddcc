"""What a Lambda execution environment offers: clients, time, threads, settings, logs and metrics."""
