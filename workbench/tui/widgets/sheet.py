"""The app's stylesheet: what was parsed once is not parsed again, however many widgets bring rules of their own.

Textual keeps the parsed rules of 64 sources and starts anew with each area. The app has more than twice as many, so
that the first visit to an area, and the first opening of a dialog, would parse all of them while a key waits.
"""

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

KEPT = 1024
"""Sources whose parsed rules are kept."""


class Sheet(Stylesheet):
    """A stylesheet that parses a source again only when the colours change."""

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(KEPT)

    def set_variables(self, variables: dict[str, str]) -> None:
        """Set the variables of the theme."""
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse what is not parsed yet."""
        self.parse()
