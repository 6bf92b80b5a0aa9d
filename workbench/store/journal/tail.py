"""The end of the journal as one process knows it: how far it has read, and how it appends."""

import os
from collections.abc import Callable, Iterator
from errno import EFBIG
from pathlib import Path

from workbench.core.damage import Damage
from workbench.core.files.atomic import draft_beside, fill, put_in_place, sync_folder, write_file
from workbench.store.entry import Transaction, from_json
from workbench.store.journal import chain, segments
from workbench.store.journal.codec import mark_of, seal
from workbench.store.journal.segments import Line, Position
from workbench.store.maintenance.checkpoint_writer import Seen, look


class Tail:
    """A place in the chain of segments that moves forward.

    `rev` is the revision of the last entry passed, `mark` the checksum of the last line,
    `damage` the lines that could not be trusted. `disordered` tells that a revision stands a second time, or
    too late: only the whole journal says what holds (see `settle`). `store` is the id of the store, and
    `names_store` says whether the active segment's header, which may be damaged, has it. Every change that somebody
    else wrote is told to `on_line`, once there is one, as it stands in the file. Methods raise `OSError`.
    """

    def __init__(self, folder: Path, place: Position, mark: str, rev: int) -> None:
        self.path = folder / segments.NAME
        self.place = place
        self.mark = mark
        self.rev = rev
        self.damage: list[Damage] = []
        self.disordered = False
        self.on_line: Callable[[bytes], object] | None = None
        self._ended = True
        self._folder = folder
        self._seen: Seen = None
        active = chain.open_active(folder)
        self.names_store = bool(active and active[1].store)
        if active:
            active[0].close()
        newest = active[1] if active else next(chain.headings_back(folder), None)
        self.edition = newest.edition if newest else 0
        self.store = (newest.store if newest else "") or chain.store_id(folder)

    @property
    def is_current(self) -> bool:
        """Tell, by one `stat`, that nothing was appended since the last look."""
        return look(self.path) == self._seen

    @property
    def is_removed(self) -> bool:
        """Tell that the active segment, which was there, is not: somebody took it away, perhaps with its folder.

        One that was closed, with the next one still to be made, was not taken away.
        """
        return self._seen is not None and look(self.path) is None and not self._was_closed()

    @property
    def is_missing(self) -> bool:
        """Tell that the active segment was removed, or may not be looked at any more; raises nothing."""
        try:
            return self.is_removed
        except OSError:
            return True

    @property
    def is_clean(self) -> bool:
        """Tell that nothing was appended and no unfinished line stands at the end."""
        return self._ended and self._seen is not None and self._seen[1] == self.place.offset and self.is_current

    def goes_on(self) -> bool:
        """Tell whether the files are still the ones that were read so far, only longer."""
        seen = look(self.path)
        if self._seen is None:
            return True
        if seen is None:
            return self._was_closed()
        if seen[0] == self._seen[0]:
            # Whoever rewrites the file puts another in its place.
            return self._still_follows()
        active = chain.open_active(self._folder)
        if active is None:
            return self.place.offset == 0
        active[0].close()
        return active[1].edition == self.edition and chain.fits(self._folder, self.place, self.mark)

    def _still_follows(self) -> bool:
        try:
            with self.path.open("rb") as handle:
                return not self.mark or segments.mark_fits(handle, self.place, self.mark)
        except FileNotFoundError:
            return self._was_closed()

    def _was_closed(self) -> bool:
        """Whether the segment was closed, and the next one is about to be made; or somebody took the journal away."""
        return any(segment.start == self.place.start for segment in chain.closed(self._folder))

    def entries(self) -> Iterator[Transaction]:
        """Yield the transactions after the present place and move past them; damage is noted on the way."""
        seen = look(self.path)
        for line in chain.follow(self._folder, self.place):
            entry = self._pass(line)
            if entry is not None:
                yield entry
            if len(self.damage) > segments.MOST_DAMAGE:
                raise OSError(EFBIG, f"more than {segments.MOST_DAMAGE:,} places of the journal are damaged")
        self._seen = seen

    def append(self, line: bytes, rev: int) -> os.stat_result | None:
        """Append a sealed line durably; return what the segment then looks like, if that can be told."""
        size, seen = segments.append(self.path, line)
        self._arrive(Position(size, self.place.line + 1, self.place.start), line, rev)
        self._seen = None if seen is None else (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        return seen

    def begin(self, header: Callable[[], dict[str, object]]) -> None:
        """Make the active segment when there is none, or an empty one."""
        seen = look(self.path)
        if seen is not None and seen[1] > 0:
            return
        self._write_header(header)

    def roll(self, header: Callable[[], dict[str, object]]) -> None:
        """Close the active segment and begin the next one; in one that holds no change, only the header is written.

        The next one is on the disk before the active one gives its name up: on a full disk nothing has changed.
        """
        if self.place.start == self.rev:
            if self.place.line <= 1:
                self._write_header(header)
            return
        value, line = _sealed(header)
        with draft_beside(self.path) as (file, draft):
            fill(file, line)
            self.path.rename(self._folder / chain.closed_name(self.place.start))
            sync_folder(self._folder)
            put_in_place(draft, self.path)
        self._began(value, line)

    def mend(self) -> bytes:
        """Let the active segment end with a line end, under the write lock only; return what was cut off."""
        self._ended = True
        return segments.mend_tail(self.path)

    def _write_header(self, header: Callable[[], dict[str, object]]) -> None:
        value, line = _sealed(header)
        write_file(self.path, line)
        self._began(value, line)

    def _began(self, value: dict[str, object], line: bytes) -> None:
        self._arrive(Position(len(line), 1, self.rev), line, self.rev)
        self._seen = look(self.path)
        self.store, self.names_store = str(value["store"]), True

    def _arrive(self, place: Position, line: bytes, rev: int) -> None:
        self.place, self.mark, self.rev = place, mark_of(line[:-1]), rev

    def _pass(self, line: Line) -> Transaction | None:
        before = self.place
        self.place, self.mark, self._ended = line.after, line.mark, line.ended
        if line.damage is not None:
            self.damage.append(line.damage)
        if line.value is None or segments.is_header(line.value):
            return None
        if self.on_line is not None:
            self.on_line(line.raw)
        offset = before.offset if before.start == line.after.start else 0
        where = (line.file, line.after.line, offset)
        try:
            entry = from_json(line.value)
        except ValueError as error:
            self.damage.append(Damage(*where, str(error)))
            return None
        if entry.rev <= self.rev:
            self.damage.append(Damage(*where, f"revision {entry.rev} stands here a second time, or too late"))
            self.disordered = True
            return None
        first, last = self.rev + 1, entry.rev - 1
        if first <= last:
            which = f"revision {first} is" if first == last else f"revisions {first} to {last} are"
            self.damage.append(Damage(*where, f"{which} missing", (first, last)))
        self.rev = entry.rev
        return entry


def _sealed(header: Callable[[], dict[str, object]]) -> tuple[dict[str, object], bytes]:
    value = header()
    return value, seal(value)
