"""May this file's bytes be replaced by this text? The one answer, for exports, dialogs and the managed block.

What the store can write back may go: a file whose bytes it read or wrote last, in a format that carries all of it.
Everything else is somebody's, and goes only on a person's word; a copy of it is kept then (see `replaced`).
"""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import ExportFormat, Parsed, ReadContext
from workbench.core.files.formats import ALIASES, detect, format_named, known_formats
from workbench.core.files.textbytes import bytes_of
from workbench.core.playbook.book import Bullet, Playbook
from workbench.formats.exports import OUTLETS
from workbench.services.files.diff import split_lines
from workbench.services.files.states import BLOCK, FileStates, hash_of, is_of

Why = Literal["unknown", "kind", "changed", "uncarried"]
"""`unknown`: never read or written here; `kind`: of another format; `changed`: by somebody else since;
`uncarried`: what is in it would not come back from being read and written."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a file may not be replaced unasked, and what would go: lines, and records of its own format.

    `format` is the format that the file has, as far as that is known, and `title` what that is called.
    """

    path: Path
    why: Why
    lines: int
    records: int
    format: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Overwriting:
    """Judges replacing files, by what a store knows of them."""

    states: FileStates
    now: datetime

    def obstacle(self, path: Path, present: str | None, text: str, kind: ExportFormat) -> Obstacle | None:
        """Return what stands in the way of replacing `present` by `text`, or `None`; asks no question of the disk."""
        if present is None or present == text or not present.strip("\ufeff \t\r\n"):
            return None
        why = self._why_of_block(path, present, text) if kind.inside else self._why(path, present, kind)
        if why is None:
            return None
        format = self._format(path, present)
        gone = (
            self._records(format, path, present) - self._records(format, path, text) if format else Counter[Hashable]()
        )
        lines = _gone(present, text).total()
        return Obstacle(path, why, lines, gone.total(), format, _title(format))

    def joined(self, path: Path, present: str, text: str, kind: ExportFormat) -> str | None:
        """Return a file with the records that only `text` has, when nothing else differs; else `None`.

        This is how both sides come together without the text they have in common: where a record that both have
        differs, nobody can tell who changed it.
        """
        theirs, ours = (self._read(kind.reader, path, side) for side in (present, text))
        if not kind.reads or theirs is None or ours is None or theirs.queries or ours.queries:
            return None
        merged = _joined_books(theirs, ours) if kind.holds == "playbook" else _joined_memories(theirs, ours)
        if merged is None:
            return None
        written = kind.write(merged, present)
        return None if _gone(present, written) else written

    def is_sound(self, path: Path, text: str, sides: tuple[str, str], kind: ExportFormat) -> bool:
        """Tell whether a text put together from ours and theirs is a file of its format, and holds all of theirs.

        Ours may lack what the format does not carry: then it is no change of ours, and the two cannot be told apart.
        """
        known, base = self.states.known(path), self.states.base(path)
        if known is None or base is None or (known.origin == "read" and not self._carries(kind, path, base)):
            return False
        if not kind.reads:
            return True
        merged, *parts = [self._read(kind.reader, path, side) for side in (text, *sides)]
        return merged is not None and len(merged.issues) <= max((len(p.issues) for p in parts if p), default=0)

    def _why(self, path: Path, present: str, kind: ExportFormat) -> Why | None:
        known = self.states.known(path, present)
        if known is None:
            return "unknown"
        if not is_of(known, kind):
            return "kind"
        if known.sha256 != hash_of(bytes_of(present)):
            return "changed"
        return None if known.origin == "written" or self._carries(kind, path, present) else "uncarried"

    def _why_of_block(self, path: Path, present: str, text: str) -> Why | None:
        """Judge a text that leaves everything but our own items where it was."""
        gone = _gone(present, text)
        if not gone:
            return None
        known = self.states.known(path, present)
        if known is None or known.format != BLOCK:
            return "unknown" if known is None else "kind"
        if known.sha256 == hash_of(bytes_of(present)):
            return None
        base = self.states.base(path)
        return "changed" if base is None or gone - _lines(base) else None

    def _carries(self, kind: ExportFormat, path: Path, present: str) -> bool:
        """Tell whether a file that is read and written unchanged comes out with the same bytes."""
        parsed = self._read(kind.reader, path, present)
        return parsed is not None and kind.write(parsed, present if kind.reads else None) == present

    def _format(self, path: Path, present: str) -> str:
        known = self.states.known(path, present)
        if known is not None:
            return known.format
        found = detect(path, present)
        return found[0].format if found else ""

    def _read(self, format: str, path: Path, text: str) -> Parsed | None:
        try:
            reader = format_named(format).read
            return reader(text, ReadContext(now=self.now, file=path.name, path=str(path)))
        except UnreadableFile:
            return None

    def _records(self, format: str, path: Path, text: str) -> Counter[Hashable]:
        """Return what tells the records of a text apart: their texts, under a name where they have one."""
        parsed = self._read(format, path, text)
        if parsed is None:
            return Counter()
        memories = ((m.id, m.content) for m in parsed.memories)
        bullets = ((b.id, b.content) for book in parsed.playbooks for b in book.bullets)
        return Counter[Hashable]([*memories, *bullets, *((q.text, q.now) for q in parsed.queries)])


def _title(format: str) -> str:
    """Return what a format to read or to write is called; empty for one that is not known."""
    titles = {kind.name: kind.title for kind in OUTLETS} | {kind.name: kind.title for kind in known_formats()}
    return titles.get(format) or titles.get(ALIASES.get(format, format), "")


def _gone(before: str, after: str) -> Counter[str]:
    """Return the lines that are in one text and no longer in the other; how they end does not count."""
    return _lines(before) - _lines(after)


def _lines(text: str) -> Counter[str]:
    """Return the lines that say something."""
    return Counter(line.rstrip("\r\n") for line in split_lines(text) if line.strip())


def _joined_memories(theirs: Parsed, ours: Parsed) -> Parsed | None:
    known = {m.id: m for m in theirs.memories}
    if any(m.id in known and replace(m, metadata={}) != replace(known[m.id], metadata={}) for m in ours.memories):
        return None
    return replace(theirs, memories=(*theirs.memories, *(m for m in ours.memories if m.id not in known)))


def _joined_books(theirs: Parsed, ours: Parsed) -> Parsed | None:
    if len(theirs.playbooks) != 1 or len(ours.playbooks) != 1:
        return None
    book, mine = theirs.playbooks[0], ours.playbooks[0]
    known = {b.id: b for b in book.bullets}
    if any(b.id in known and _bare(b) != _bare(known[b.id]) for b in mine.bullets):
        return None
    last = max((b.order for b in book.bullets), default=0.0)
    new = [replace(b, raw=None, lead=()) for b in mine.bullets if b.id not in known]
    added = tuple(replace(b, order=last + number) for number, b in enumerate(new, 1))
    wanted = {b.section for b in added} - {s.id for s in book.sections}
    sections = tuple(replace(s, raw=None, lead=()) for s in mine.sections if s.id in wanted)
    whole = Playbook(book.book, (*book.sections, *sections), (*book.bullets, *added))
    return replace(theirs, playbooks=(whole,))


def _bare(bullet: Bullet) -> Bullet:
    """Return a bullet without its place in the file."""
    return replace(bullet, order=0.0, raw=None, lead=(), section="", metadata={})
