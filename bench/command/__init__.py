"""The command line of the benchmarks, and the progress that it shows."""
