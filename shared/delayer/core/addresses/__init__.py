"""How hosts, queues, functions and other targets are written, and which spellings mean the same."""
