"""What a person decides about the external memory of agents' sessions."""

from typing import NamedTuple


class MemorySettings(NamedTuple):
    """Whether the external memory of agents' sessions is looked through, and how many results are usual."""

    enabled: bool = True
    default_limit: int = 5
