"""The client of Delayer."""
