"""Votes as events: who marked what as helpful or harmful, when and why."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Verdict = Literal["helpful", "harmful"]
Votable = Literal["memories", "bullets"]


@dataclass(frozen=True, slots=True)
class Vote:
    """One live vote. `session` is the agent session it was cast in, empty for a person."""

    id: str
    table: Votable
    target: str
    actor: str
    verdict: Verdict
    at: datetime
    session: str = ""
    reason: str = ""
    version: int = 1


def vote_id(table: Votable, target: str, actor: str, session: str = "") -> str:
    """Name the one live vote that `actor` has on `target` in `session`; a second vote replaces it."""
    return f"{table}:{target}:{actor}:{session}"
