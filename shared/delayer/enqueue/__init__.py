"""From the table to the delayer queue: stream-enqueuer, the tick, the sweep, what is brought back."""
