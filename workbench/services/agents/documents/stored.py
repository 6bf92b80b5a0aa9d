"""The store's own documents below `/memories`: what the memory tool of an agent does, one transaction a command.

A person sees, corrects and undoes them as anything else. Texts are masked on the way in, as everywhere.
"""

import re
import unicodedata
from dataclasses import replace

from workbench.core.agents.document import ROOT, Document
from workbench.core.record import InvalidQuery, InvalidRecord, UnknownRecord
from workbench.core.text import printable
from workbench.services.context import Context

LONGEST_PATH, LONGEST_NAME, LARGEST = 500, 200, 1 << 20
"""Characters of a path and of a name in it, and of one document, at the most."""

MOST = 10_000
"""Documents of one store."""

NOTHING = "Nothing was changed."


class StoredDocuments:
    """Reads and changes the documents of a store as the context's actor."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._table = context.library.table(Document)

    def all(self) -> tuple[Document, ...]:
        return tuple(sorted(self._table.all(), key=lambda one: one.id))

    def find(self, path: str) -> Document | None:
        """Return the document of a path; raises `InvalidQuery` for what is no path."""
        return self._table.find(cleaned(path))

    def below(self, path: str) -> tuple[Document, ...]:
        """Return the documents below a folder, by path; raises `InvalidQuery`."""
        folder = cleaned(path) + "/"
        return tuple(one for one in self.all() if one.id.startswith(folder))

    def create(self, path: str, text: str) -> Document:
        """Keep a new document.

        Raises `InvalidQuery` for the root, and `InvalidRecord` where there is one already, or something in the way.
        """
        place = cleaned(path)
        if place == ROOT:
            raise InvalidQuery(f"{ROOT} is the folder of all documents, not a file.", NOTHING)
        now = self._context.now()
        with self._context.library.transaction(self._context.actor, f"create {place}") as tx:
            self._require_free(place)
            document = Document(place, _checked(text, place), now, now)
            tx.put(document)
        return self._table.get(place)

    def write(self, path: str, text: str, seen: Document | None = None) -> Document:
        """Give a document another text; with `seen` only while it says what it said there.

        Raises `UnknownRecord`, or `InvalidRecord` for a text that is too long, or when it was changed meanwhile.
        """
        place = cleaned(path)
        with self._context.library.transaction(self._context.actor, f"edit {place}") as tx:
            now = self._table.find(place)
            if now is None:
                raise UnknownRecord(f"There is no document {place} in this store.", NOTHING)
            if seen is not None and seen.content != now.content:
                raise InvalidRecord(f"{place} was changed by somebody else meanwhile.", f"{NOTHING} Look again.")
            tx.put(replace(now, content=_checked(text, place), changed_at=self._context.now()))
        return self._table.get(place)

    def delete(self, path: str) -> int:
        """Remove a document, or all below a folder; return how many. Raises `UnknownRecord`, `InvalidQuery`."""
        place = cleaned(path)
        if place == ROOT:
            raise InvalidQuery(f"The folder {ROOT} itself stays.", NOTHING)
        with self._context.library.transaction(self._context.actor, f"delete {place}") as tx:
            doomed = self._under(place)
            for document in doomed:
                tx.delete(document)
        return len(doomed)

    def rename(self, old: str, new: str) -> int:
        """Move a document, or all below a folder; return how many.

        Raises `UnknownRecord`, `InvalidQuery`, or `InvalidRecord` where the new place is taken or within the old one.
        """
        start, end = cleaned(old), cleaned(new)
        if ROOT in (start, end):
            raise InvalidQuery(f"The folder {ROOT} itself stays.", NOTHING)
        if end.startswith(start + "/"):
            raise InvalidRecord(f"{end} lies within {start}.", NOTHING)
        with self._context.library.transaction(self._context.actor, f"rename {start} to {end}") as tx:
            moved = self._under(start)
            self._require_free(end, but=start)
            for document in moved:
                tx.delete(document)
            for document in moved:
                tx.put(replace(document, id=cleaned(end + document.id[len(start) :])))
        return len(moved)

    def _under(self, place: str) -> list[Document]:
        own = self._table.staged()
        found = [one for one in own if one.id == place or one.id.startswith(place + "/")]
        if not found:
            raise UnknownRecord(f"There is no document {place} in this store.", NOTHING)
        return sorted(found, key=lambda one: one.id)

    def _require_free(self, place: str, but: str = "") -> None:
        """Refuse a place that is taken, also by what differs in its case alone or is a part of its path."""
        wanted, known = _folded(place), [one.id for one in self._table.staged() if one.id != but]
        if len(known) >= MOST:
            raise InvalidRecord(f"The store keeps {MOST:,} documents already.", NOTHING)
        for other in known:
            taken = _folded(other)
            if but and (other == but or other.startswith(but + "/")):
                continue
            if taken == wanted or taken.startswith(wanted + "/") or wanted.startswith(taken + "/"):
                raise InvalidRecord(f"{other} is there already.", NOTHING)


def cleaned(path: str) -> str:
    """Return a path below `/memories` in its one form; raises `InvalidQuery` for one that leads anywhere else."""
    if path != ROOT and not path.startswith(ROOT + "/"):
        raise InvalidQuery(f"Path must start with {ROOT}, got: {printable(path[:LONGEST_PATH])}")
    parts = [part for part in path[len(ROOT) :].split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InvalidQuery(f"Path {printable(path[:LONGEST_PATH])} would escape {ROOT} directory")
    shown = printable(path[:LONGEST_PATH])
    if any(_UNFIT.search(part) or printable(part) != part or part != part.strip() for part in parts):
        raise InvalidQuery(f"Path {shown} holds characters that no name has.", NOTHING)
    if len(path) > LONGEST_PATH or any(len(part) > LONGEST_NAME for part in parts):
        raise InvalidQuery(f"Path {shown}… is too long.", NOTHING)
    return "/".join((ROOT, *parts))


_UNFIT = re.compile(r"[\x00-\x1f\x7f\\:*?\"<>|]")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _checked(text: str, place: str) -> str:
    if len(text) > LARGEST:
        raise InvalidRecord(f"{place} would have {len(text):,} characters; {LARGEST:,} are kept.", NOTHING)
    return text
