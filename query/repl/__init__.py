"""The REPL: Python that a model wrote, run where it can reach nothing but a few functions.

Code goes to a worker process of pydantic-monty, an interpreter without imports of the host,
files or a network. It comes back for each call of a function: the call's arguments are checked,
the function runs here, its result goes in as plain data. The clock of the limits stands still
meanwhile. Names persist from snippet to snippet.
"""
