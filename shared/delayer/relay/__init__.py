"""From the delayer queue to the queue of the action: waits, claims, hands over. Also in the relaxed lane."""
