"""Benchmarks: every figure is a ratio against a baseline measured in the same run.

`python -m benchmarks` runs all of them; each is also a module of its own
(`python -m benchmarks.start`). Machines are noisy: runs are interleaved and medians quoted.
"""
