"""Which files a store knows: the format of each, and the bytes that both have in common.

What is known stands in the journal; the common text itself lies among the caches, for putting both sides' changes
together. Deleting the caches costs that, and never tells a file of somebody else's for our own.
"""

import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from workbench.core.file_state import FileState, Origin
from workbench.core.files.format import ExportFormat
from workbench.core.files.formats import detect
from workbench.core.files.textbytes import bytes_of
from workbench.formats.claude_memory.claude_memory import BEGIN
from workbench.formats.exports import OUTLETS
from workbench.services.files.base import FileBases
from workbench.services.safety.texts import name_of
from workbench.store.library import Library, Tx

BLOCK = "block"
"""The format of a file in which only the managed block is ours."""


class FileStates:
    """The files of one store, of the formats that are known."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._bases = FileBases(library.surroundings.common_texts)

    def known(self, path: Path, present: str | None = None) -> FileState | None:
        """Return what is known of a file, `None` for one that was never read or written here.

        Where that was forgotten of the file that a playbook came from, `present`, what it holds now, tells.
        """
        found = self._library.files.find(real_name(path))
        return found if found is not None else self._recognised(path, present)

    def base(self, path: Path) -> str | None:
        """Return the text that a file and the store had in common last; `None` when it is not kept any more."""
        text, known = self._bases.text(path), self.known(path)
        return text if text is not None and known is not None and known.sha256 == hash_of(bytes_of(text)) else None

    def paths(self) -> tuple[Path, ...]:
        """Return every file that the store was read from or written to, as far as is known."""
        noted = (Path(state.id) for state in self._library.files.all())
        return tuple(dict.fromkeys((*noted, *self._bases.paths())))

    def base_as(self, kind: ExportFormat, path: Path) -> str | None:
        """Return the common text of a file, if it is of a format."""
        text, known = self.base(path), self.known(path)
        return text if known is not None and is_of(known, kind) else None

    def is_of(self, kind: ExportFormat, path: Path, text: str) -> bool:
        """Tell whether a file's text is of a format: as it was read or written, else as name and text say."""
        known = self.known(path, text)
        if known is not None:
            return is_of(known, kind)
        found = detect(path, text)
        return bool(found) and found[0].format == kind.reader

    def agree(self, tx: Tx, path: Path, format: str, digest: str, origin: Origin) -> None:
        """Note in an open transaction that a file of a format has the bytes with this SHA-256."""
        state = FileState(real_name(path), format, digest, origin, self._library.now())
        before = self._library.files.find(state.id)
        if before is None or replace(before, at=state.at) != state:
            tx.put(state)

    def read(self, tx: Tx, path: Path, format: str, digest: str) -> None:
        """Note in an open transaction that a file was read, and says what the store says; ours stays known as ours."""
        self._bases.keep_file(path, digest)
        before = self._library.files.find(real_name(path))
        ours = before is not None and before.sha256 == digest and format == _readers().get(before.format)
        if not ours:
            self.agree(tx, path, format, digest, "read")

    def wrote(self, path: Path, kind: ExportFormat, text: str, before: bytes | None, actor: str) -> None:
        """Note that `actor` wrote a file. Raises `StoreProblem` when the store cannot be written.

        `before` is what it held. Of a file of another format only our block was written: it stays what it is.
        """
        digest, known = hash_of(bytes_of(text)), self._library.files.find(real_name(path))
        self._bases.keep(path, text)
        with self._library.transaction(actor, f"write {name_of(Path(path.name))}", kind="access") as tx:
            if not kind.inside or known is None or known.format == BLOCK:
                self.agree(tx, path, kind.name, digest, "written")
            elif before is not None and known.sha256 == hash_of(before):
                self.agree(tx, path, known.format, digest, known.origin)

    def moved_on(self, tx: Tx, path: Path, before: bytes | None, after: bytes | None) -> None:
        """Note in an open transaction that this store changed a part of a file, if it knew what it held."""
        known = self._library.files.find(real_name(path))
        if known is None or before is None or after is None or known.sha256 != hash_of(before):
            return
        self.agree(tx, path, known.format, hash_of(after), known.origin)
        self._bases.keep(path, after.decode("utf-8", "surrogateescape"))

    def _recognised(self, path: Path, present: str | None) -> FileState | None:
        name = real_name(path)
        sources = (book.source for book in self._library.books.all() if book.source)
        if present is None or all(real_name(Path(source)) != name for source in sources):
            return None
        found = detect(path, present)
        format = found[0].format if found else ""
        written = is_written(format)
        if BEGIN in present and not written:
            format = BLOCK
        # What no reader knows was a text of ours: prompts are written, and never read.
        return FileState(name, format, "", "read" if written else "written", self._library.now())


def _readers() -> dict[str, str]:
    """Return the format that reads what each outlet writes, empty for none."""
    return {kind.name: kind.reader for kind in OUTLETS}


def is_of(known: FileState, kind: ExportFormat) -> bool:
    """Tell whether a known file is one that an outlet writes."""
    return known.format in (kind.name, kind.reader) if known.format else not kind.reader


def is_written(format: str) -> bool:
    """Tell whether files of a format to read can be written, too."""
    return bool(format) and format in _readers().values()


def real_name(path: Path) -> str:
    """Return the absolute path of a file, links followed; bytes that are no text are written out."""
    return name_of(Path(os.path.realpath(path)))


def hash_of(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return sha256(data).hexdigest()
