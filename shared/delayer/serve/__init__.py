"""The durable engine on one machine: the process that `delayer serve` runs, in one folder."""
