"""Which process started this one: an agent's hooks and its server have it in common, whatever they call a session."""

import os

from workbench.core.runtime import process


def parent_process() -> str:
    """Return the name of the process that started this one; empty where it ended already."""
    number = os.getppid()
    return process(number) if number > 1 else ""
