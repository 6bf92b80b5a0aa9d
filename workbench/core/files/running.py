"""Which process something belongs to: named so that another one with the same number later is not taken for it."""

import os
from pathlib import Path


def process(number: int) -> str:
    """Return the name of a process: its number and when it began, since numbers are given out again.

    The number alone where its beginning cannot be looked up.
    """
    try:
        said = Path(f"/proc/{number}/stat").read_bytes()
    except OSError:
        return str(number)
    # The name stands in brackets and may hold anything; the beginning is the twentieth word after it.
    after = said.rpartition(b")")[2].split()
    return f"{number}-{after[19].decode('ascii', 'replace')}" if len(after) > 19 else str(number)


def is_running(name: str) -> bool:
    """Tell whether the process of a name still runs; a name that is none runs never."""
    digits = name.partition("-")[0]
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10) or int(digits) == 0:
        return False
    try:
        os.kill(int(digits), 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs as another user
        pass
    return process(int(digits)) == name
