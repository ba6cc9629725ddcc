"""What `delayer serve` can do on this machine."""
