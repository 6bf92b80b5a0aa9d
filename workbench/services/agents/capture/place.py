"""Where what hooks capture goes, and what became of it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """Where captured things go: the store, the folder that says how far sessions were followed, and who acts.

    `heads` is where this machine remembers what it stored. `told_at` names the events at which the agent takes text.
    """

    store: Path
    captures: Path
    actor: str
    clock: Callable[[], datetime]
    heads: Path | None = None
    told_at: frozenset[str] = frozenset({"SessionStart", "UserPromptSubmit"})


class Taken(NamedTuple):
    """What became of an event: the text that the agent is given, and the ids of the memories that were stored."""

    context: str = ""
    stored: tuple[str, ...] = ()
