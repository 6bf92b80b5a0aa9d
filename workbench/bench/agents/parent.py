"""Which process started this one: an agent's hooks and its server have it in common, whatever they call a session."""

import os
from pathlib import Path


def parent_process() -> str:
    """Return the number of the process that started this one, and when it began: numbers are given out again.

    Empty where it ended already. Where its beginning cannot be looked up, the number alone.
    """
    number = os.getppid()
    if number <= 1:
        return ""
    try:
        said = Path(f"/proc/{number}/stat").read_bytes()
    except OSError:
        return str(number)
    # The name stands in brackets and may hold anything; the beginning is the twentieth word after it.
    after = said.rpartition(b")")[2].split()
    return f"{number}-{after[19].decode('ascii', 'replace')}" if len(after) > 19 else str(number)
