"""What can be searched and ranked: memories, and whatever else says these few things of itself."""

from datetime import datetime
from typing import Protocol


class Searchable(Protocol):
    """A text with an id, a time and a session ("" for none).

    Full text and vectors look at the text only. In a ranking, what is no memory counts as a memory that nobody used,
    marked, pinned or rated since it was made.
    """

    @property
    def id(self) -> str:
        """What names it among all that is searched with it."""

    @property
    def content(self) -> str:
        """Its text."""

    @property
    def created_at(self) -> datetime:
        """When it was said or made."""

    @property
    def session_id(self) -> str:
        """The session whose texts are its neighbours."""
