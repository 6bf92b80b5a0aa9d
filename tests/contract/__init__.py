"""What people and programs rely on, recorded: `python -m tests.contract record` writes it, the
tests compare with it.

The files under `recorded/` are the contract: help texts, exit codes, the keys of answers, of the
config, of themes and profiles, action ids, what the journal calls a change and which fields it
moves, exported bytes, rankings. None of it names a Python module; the one place that knows modules
is `adapter`.
"""
