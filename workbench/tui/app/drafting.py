"""The draft of one text that is edited: kept while somebody types, offered again after the app was stopped."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from textual.message_pump import MessagePump
from textual.timer import Timer

from workbench.config import drafts
from workbench.config.drafts import Draft, Item

NO_FIELDS: Mapping[str, tuple[str, str]] = MappingProxyType({})

SECONDS = 1.0
"""How long typed text is in danger at most."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """Keeps the draft of one item in a folder; without a folder (`None`) there are no drafts at all."""

    folder: Path | None
    item: Item
    clock: Callable[[], datetime]

    @property
    def wanted(self) -> bool:
        """Whether drafts are kept."""
        return self.folder is not None

    def find(self) -> Draft | None:
        """Return what was typed before the app was stopped, if anything was."""
        return None if self.folder is None else drafts.find(self.folder, self.item)

    def keep(self, text: str, base: str, fields: Mapping[str, tuple[str, str]] = NO_FIELDS) -> str:
        """Keep what is typed in place of the text with the digest `base`; return why that failed, or nothing.

        `fields` is what is typed into others beside it; see `Draft`.
        """
        if self.folder is None:
            return ""
        return drafts.keep(self.folder, self.item, Draft(text, base, self.clock(), fields))

    def drop(self) -> None:
        """Let go of the draft."""
        if self.folder is not None:
            drafts.drop(self.folder, self.item)


class Keeping:
    """Keeps the draft of what is typed in a dialog: a moment after the first key, and again while more is typed.

    `keep` does it. Nothing is kept where there is no draft to keep.
    """

    def __init__(self, dialog: MessagePump, draft: Drafting | None, keep: Callable[[], None]) -> None:
        self._dialog, self._draft, self._keep = dialog, draft, keep
        self._due: Timer | None = None

    def soon(self) -> None:
        """Keep it in a moment."""
        if self._draft is not None and self._draft.wanted and self._due is None:
            self._due = self._dialog.set_timer(SECONDS, self._now)

    def at_the_end(self) -> None:
        """Keep at once what waits to be kept: the app ends in mid-edit."""
        if self._due is not None:
            self._now()

    def let_go(self) -> None:
        """Drop the draft: it has done its duty."""
        if self._due is not None:
            self._due.stop()
            self._due = None
        if self._draft is not None:
            self._draft.drop()

    def _now(self) -> None:
        self._due = None
        self._keep()
