"""Writes a new executor or subscriber, and takes one out again: `make new-executor NAME=slack-post`."""
