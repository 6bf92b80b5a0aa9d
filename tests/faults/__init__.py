"""Seeded faults: small mistakes, two for each floor, each with the test that catches it
(`tests/faults.md`).

`python -m tests.faults` seeds them one by one in a copy of the checkout and runs their tests. A
fault is found by its text and a test by its name, wherever they stand, so that both may move.
"""
