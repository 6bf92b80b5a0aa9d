"""What an agent's door goes by: light values, so that a server that only says what it can do need not have a door."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DoorRules:
    """What an agent may do beside reading: `reads_only` nothing; `forgets` its own signals at once."""

    reads_only: bool = False
    forgets: bool = False


@dataclass(slots=True)
class DoorVotes:
    """What one process or token did, whatever it calls itself later: who of it voted first on a memory, so that it has
    that one vote, and which memories it saved, of which it has none.
    """

    cast: dict[str, tuple[str, str]] = field(default_factory=dict)
    saved: set[str] = field(default_factory=set)
