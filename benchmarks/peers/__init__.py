"""ReelDB and other video and table systems, on one clip and with one fake model.

`python -m benchmarks.peers` (see `__main__`) writes `benchmarks/PEERS.md`. Every `run_*.py` is
run by the Python of that system's own virtual environment, a fresh process a step.
"""
