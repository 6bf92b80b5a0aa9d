"""What changed on disk while a list of documents is open: each document's text before that, and what to say."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from workbench.tui.agents.documents.rows import LISTED, Part

NOW_CHANGED = "changed just now"

Name = tuple[str, str]
"""The folder of a document, and its path in it."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """What was noticed: the texts that documents had `before`, by their names, and the sentence about the last look."""

    before: dict[Name, str]
    sentence: str = ""

    def compared(self, old: Sequence[Part], new: Sequence[Part], written: Set[Name] = frozenset()) -> "Noticed":
        """Return what is known once another look at the disk found `new` rows where `old` ones were listed.

        What was `written` here in between is no change of somebody else's.
        """
        was, now = _documents(old), _documents(new)
        changed = {name: was[name] for name in now if name in was and now[name] != was[name] and name not in written}
        lists = (
            ("Changed on disk", list(changed)),
            ("New", [name for name in now if name not in was]),
            ("Gone", [name for name in was if name not in now]),
        )
        told = "; ".join(f"{what}: {_listed(names)}" for what, names in lists if names)
        # What it was when the list was opened stays what it is held against.
        before = {name: text for name, text in (changed | self.before).items() if now.get(name, text) != text}
        return Noticed(before, f"{told}." if told else self.sentence)

    def without(self, names: Set[Name]) -> "Noticed":
        """Return it without documents that were written here."""
        return replace(self, before={name: text for name, text in self.before.items() if name not in names})

    def marked(self, rows: Sequence[Part]) -> list[Part]:
        """Return the rows; those of documents that changed say so, and hold their text before that."""
        return [
            replace(row, said=NOW_CHANGED if row.section is None else "", before=self.before[row.folder, row.path])
            if row.document is not None and (row.folder, row.path) in self.before
            else row
            for row in rows
        ]


def _documents(rows: Sequence[Part]) -> dict[Name, str]:
    return {(row.folder, row.path): row.document.content for row in rows if row.document is not None}


def _listed(names: Sequence[Name]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(path for _, path in names[:LISTED])}{more}"
