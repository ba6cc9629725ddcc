"""Benchmarks: lateness, throughput, what AWS would bill, import times; measured on one machine."""
