"""`python -m tests.faults` is about mutants (`mutants.py`)."""

import sys

from tests.faults.mutants import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
