"""The ports to the outside world, and their engines on AWS and here: the store, queues, topics, secrets, the clock."""
