"""What one machine can do with the journal on: latencies, bursts, POSTs, memory, and how soon it is ready."""
