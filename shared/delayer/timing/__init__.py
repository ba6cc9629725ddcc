"""A schedule waits for its time: a policy is asked, and its decision is written."""
