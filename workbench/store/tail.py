"""The end of the journal as one process knows it: how far it has read, and how it appends."""

from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.store import chain, segments
from workbench.store.codec import mark_of, seal
from workbench.store.entry import Entry, from_json
from workbench.store.files import sync_folder, write_atomically
from workbench.store.keeper import Seen, look
from workbench.store.segments import Damage, Line, Position


class Tail:
    """A place in the chain of segments that moves forward.

    `rev` is the revision of the last entry passed, `mark` the checksum of the last line,
    `damage` the lines that could not be trusted. Methods raise `OSError`.
    """

    def __init__(self, folder: Path, place: Position, mark: str, rev: int) -> None:
        self.path = folder / segments.NAME
        self.place = place
        self.mark = mark
        self.rev = rev
        self.damage: list[Damage] = []
        self._folder = folder
        self._seen: Seen = None
        active = chain.open_active(folder)
        self.edition = active[1].edition if active else 0
        if active:
            active[0].close()

    @property
    def is_current(self) -> bool:
        """Tell, by one `stat`, that nothing was appended since the last look."""
        return look(self.path) == self._seen

    @property
    def is_clean(self) -> bool:
        """Tell that nothing was appended and no unfinished line stands at the end."""
        return self._seen is not None and self._seen[1] == self.place.offset and self.is_current

    def goes_on(self) -> bool:
        """Tell whether the files are still the ones that were read so far, only longer."""
        seen = look(self.path)
        if self._seen is None or seen is None or (seen[0] == self._seen[0] and seen[1] >= self.place.offset):
            return True
        active = chain.open_active(self._folder)
        if active is None:
            return False
        active[0].close()
        return active[1].edition == self.edition and chain.fits(self._folder, self.place, self.mark)

    def entries(self) -> Iterator[Entry]:
        """Yield the transactions after the present place and move past them; damage is noted on the way."""
        seen = look(self.path)
        for line in chain.follow(self._folder, self.place):
            entry = self._pass(line)
            if entry is not None:
                yield entry
        self._seen = seen

    def append(self, line: bytes, rev: int) -> int:
        """Append a sealed line durably; return the segment's new size."""
        seen = segments.append(self.path, line)
        self._arrive(Position(seen.st_size, self.place.line + 1, self.place.start), line, rev)
        self._seen = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        return seen.st_size

    def begin(self, header: Callable[[], dict[str, object]]) -> None:
        """Make the active segment when there is none, or an empty one."""
        seen = look(self.path)
        if seen is not None and seen[1] > 0:
            return
        line = seal(header())
        write_atomically(self.path, line)
        self._arrive(Position(len(line), 1, self.rev), line, self.rev)
        self._seen = look(self.path)

    def roll(self, header: Callable[[], dict[str, object]]) -> None:
        """Close the active segment and begin the next one."""
        self.path.rename(self._folder / chain.closed_name(self.place.start))
        sync_folder(self._folder)
        self.begin(header)

    def cut(self) -> int:
        """Cut an unfinished last line off, under the write lock only; return how many bytes it had."""
        return len(segments.cut_torn_tail(self.path))

    def _arrive(self, place: Position, line: bytes, rev: int) -> None:
        self.place, self.mark, self.rev = place, mark_of(line[:-1]), rev

    def _pass(self, line: Line) -> Entry | None:
        before = self.place
        self.place, self.mark = line.after, line.mark
        if line.damage is not None:
            self.damage.append(line.damage)
        if line.value is None or segments.is_header(line.value):
            return None
        offset = before.offset if before.start == line.after.start else 0
        try:
            entry = from_json(line.value)
            reason = self._out_of_order(entry)
        except ValueError as error:
            entry, reason = None, str(error)
        if reason:
            self.damage.append(Damage(line.file, line.after.line, offset, reason))
        if entry is None or entry.rev <= self.rev:
            return None
        self.rev = entry.rev
        return entry

    def _out_of_order(self, entry: Entry) -> str:
        first, last = self.rev + 1, entry.rev - 1
        if entry.rev < first:
            return f"revision {entry.rev} stands here a second time"
        if entry.rev > first:
            return f"revision {first} is missing" if first == last else f"revisions {first} to {last} are missing"
        return ""
