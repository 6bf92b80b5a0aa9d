"""The store's own documents below `/memories`: what the memory tool of an agent does, one
transaction a command.

A person sees, corrects and undoes them as anything else. Texts are masked on the way in, as
everywhere.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from workbench.core.agents.document import ROOT, Document
from workbench.core.record import InvalidQuery, InvalidRecord, StoreProblem, UnknownRecord
from workbench.core.text import printable
from workbench.services.agents.blocks import Blocks, Guard, require_trusted
from workbench.services.agents.documents.recall import plain_name
from workbench.services.agents.reading_log import Asked, keep, reading
from workbench.services.context import Context
from workbench.services.safety.safety import Safety

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

        Raises `InvalidQuery` for the root, and `InvalidRecord` where there is one already, or
        something in the way.
        """
        place = cleaned(path)
        if place == ROOT:
            raise InvalidQuery(f"{ROOT} is the folder of all documents, not a file.", NOTHING)
        now = self._context.now()
        with self._context.transaction(f"create {place}") as tx:
            self._require_free(place)
            document = Document(place, _checked(text, place), now, now)
            tx.put(document)
        return self._table.get(place)

    def write(self, path: str, text: str, seen: Document | None = None) -> Document:
        """Give a document another text; with `seen` only while it says what it said there.

        Raises `UnknownRecord`, or `InvalidRecord` for a text that is too long, or when it was
        changed meanwhile.
        """
        place = cleaned(path)
        with self._context.transaction(f"edit {place}") as tx:
            now = self._table.find(place)
            if now is None:
                raise UnknownRecord(f"There is no document {place} in this store.", NOTHING)
            if seen is not None and seen.content != now.content:
                raise InvalidRecord(
                    f"{place} was changed by others meanwhile.", f"{NOTHING} Look again."
                )
            tx.put(replace(now, content=_checked(text, place), changed_at=self._context.now()))
        return self._table.get(place)

    def delete(self, path: str) -> int:
        """Remove a document, or all below a folder; return how many. Raises `UnknownRecord`,
        `InvalidQuery`.
        """
        place = cleaned(path)
        if place == ROOT:
            raise InvalidQuery(f"The folder {ROOT} itself stays.", NOTHING)
        with self._context.transaction(f"delete {place}") as tx:
            doomed = self._under(place)
            for document in doomed:
                tx.delete(document)
        return len(doomed)

    def rename(self, old: str, new: str) -> int:
        """Move a document, or all below a folder; return how many.

        Raises `UnknownRecord`, `InvalidQuery`, or `InvalidRecord` where the new place is taken or
        within the old one.
        """
        start, end = cleaned(old), cleaned(new)
        if ROOT in (start, end):
            raise InvalidQuery(f"The folder {ROOT} itself stays.", NOTHING)
        if end.startswith(start + "/"):
            raise InvalidRecord(f"{end} lies within {start}.", NOTHING)
        with self._context.transaction(f"rename {start} to {end}") as tx:
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
        """Refuse a place that is taken, also by what differs in its case alone or is a part of its
        path.
        """
        wanted, known = _folded(place), [one.id for one in self._table.staged() if one.id != but]
        if len(known) >= MOST:
            raise InvalidRecord(f"The store already has {MOST:,} documents.", NOTHING)
        for other in known:
            taken = _folded(other)
            if but and (other == but or other.startswith(but + "/")):
                continue
            if taken == wanted or taken.startswith(wanted + "/") or wanted.startswith(taken + "/"):
                raise InvalidRecord(f"{other} already exists.", NOTHING)


def cleaned(path: str) -> str:
    """Return a path below `/memories` in its one form; raises `InvalidQuery` for one that leads
    anywhere else.
    """
    if path != ROOT and not path.startswith(ROOT + "/"):
        raise InvalidQuery(f"Path must start with {ROOT}, got: {printable(path[:LONGEST_PATH])}")
    parts = [part for part in path[len(ROOT) :].split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InvalidQuery(f"Path {printable(path[:LONGEST_PATH])} would escape {ROOT} directory")
    shown = printable(path[:LONGEST_PATH])
    if any(
        _UNFIT.search(part) or printable(part) != part or part != part.strip() for part in parts
    ):
        raise InvalidQuery(f"Path {shown} contains invalid characters.", NOTHING)
    if len(path) > LONGEST_PATH or any(len(part) > LONGEST_NAME for part in parts):
        raise InvalidQuery(f"Path {shown}… is too long.", NOTHING)
    return "/".join((ROOT, *parts))


_UNFIT = re.compile(r"[\x00-\x1f\x7f\\:*?\"<>|]")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _checked(text: str, place: str) -> str:
    if len(text) > LARGEST:
        raise InvalidRecord(
            f"{place} would have {len(text):,} characters; at most {LARGEST:,} are stored.", NOTHING
        )
    return text


# The commands of the memory tool over the store's documents, in the words of the SDK's own
# implementation.
#
# An agent sees masked text and never what is held back from it; it cannot change what it does not
# see. Each command is one transaction of the agent's, which a person sees, corrects and undoes.
# Raises `WorkbenchError` throughout.


DOOR = "memory"
"""How the tool is called among the doors that agents read by."""

_WIDTH = 6
_AROUND = 2
_DEPTH = 2
_MOST_NAMED = 10
_HOLE = "\ue000"
"""Stands for a changed part while it is tried whether a secret stands around it."""


class MemoryCommands:
    """What an agent does with the documents of a store; `session` is the agent's."""

    def __init__(self, context: Context, safety: Safety, session: str = "") -> None:
        if not context.actor.startswith("agent:"):
            raise InvalidRecord("Only an agent has a memory tool; a person edits documents.")
        self._context, self._safety, self._session = context, safety, session
        self._documents, self._guard = StoredDocuments(context), Guard(context, safety)

    def view(self, path: str, lines: tuple[int, int] | None = None) -> str:
        """Return a document with line numbers, or a folder with what is in it, two levels deep."""
        require_trusted(self._context.library)
        place = cleaned(path)
        document = self._documents.find(place)
        if document is None:
            return self._folder(place)
        rows = self._seen(document).split("\n")
        first, last = lines if lines is not None else (1, -1)
        begin = max(1, first) - 1
        with suppress(StoreProblem):  # a store that cannot be written still shows it
            asked = Asked(DOOR, self._session)
            keep(
                self._context, [reading(self._context, asked, f"view {place}", documents=(place,))]
            )
        body = _numbered(rows[begin : len(rows) if last == -1 else last], begin + 1)
        known = self._guard.origin(document)
        if (known.kind, f"agent:{known.name}") != ("agent", self._context.actor):
            body = Blocks({place: known}).enclosed(place, body)
        return f"Here's the content of {place} with line numbers:\n{body}"

    def create(self, path: str, text: str) -> str:
        """Keep a new document."""
        require_trusted(self._context.library)
        place = cleaned(path)
        if self._documents.find(place) is not None:
            raise InvalidRecord(f"File {place} already exists")
        self._documents.create(place, text)
        return f"File created successfully at: {place}"

    def str_replace(self, path: str, old: str, new: str) -> str:
        """Replace a text that stands in a document once; one that touches what is masked is
        refused.
        """
        document, seen = self._file(path)
        place, content = document.path, document.content
        if not old:
            raise InvalidQuery(
                "No replacement was performed: old_str is empty.", "Use insert to add text."
            )
        found = [hit.start() for hit in islice(re.finditer(re.escape(old), seen), _MOST_NAMED + 1)]
        if not found:
            message = (
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {place}."
            )
            raise InvalidQuery(message)
        if len(found) > 1:
            rows = ", ".join(str(seen.count("\n", 0, at) + 1) for at in found[:_MOST_NAMED])
            rows += " and more" if len(found) > _MOST_NAMED else ""
            message = f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {rows}."
            raise InvalidQuery(message, "Please ensure it is unique")
        if (
            content.count(old) != 1
            or self._guard.text(content.replace(old, _HOLE), document).replace(_HOLE, old) != seen
        ):
            message = (
                f"No replacement was performed: old_str touches a part of {place} that is masked."
            )
            raise InvalidQuery(message, "A person can change that part; leave it out of old_str.")
        after = self._documents.write(place, content.replace(old, new), document)
        changed = seen.count("\n", 0, found[0])
        begin = max(0, changed - _AROUND)
        snippet = self._guard.text(after.content, after).split("\n")[begin : changed + _AROUND + 1]
        said = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        return said + _numbered(snippet, begin + 1)

    def insert(self, path: str, line: int, text: str) -> str:
        """Put a text behind a line of a document (0: at the top)."""
        document, seen = self._file(path)
        rows = document.content.removesuffix("\n").split("\n") if document.content else []
        if not 0 <= line <= len(rows):
            message = f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(rows)}]."
            raise InvalidQuery(message)

        def with_line(added: str) -> str:
            return "".join(f"{row}\n" for row in (*rows[:line], added, *rows[line:]))

        if self._guard.text(with_line(_HOLE), document).replace(f"{_HOLE}\n", "").rstrip(
            "\n"
        ) != seen.rstrip("\n"):
            raise InvalidQuery(f"Line {line} of {document.path} is within a masked part.")
        self._documents.write(document.path, with_line(text.rstrip("\n")), document)
        return f"The file {document.path} has been edited."

    def delete(self, path: str) -> str:
        """Remove a document, or a folder with all that is in it."""
        place = cleaned(path)
        if place == ROOT:
            raise InvalidQuery(f"Cannot delete the {ROOT} directory itself")
        self._require_seen(place, f"The path {place} does not exist")
        self._documents.delete(place)
        return f"Successfully deleted {place}"

    def rename(self, old: str, new: str) -> str:
        """Move a document, or a folder with all that is in it."""
        start, end = cleaned(old), cleaned(new)
        if start == ROOT:
            raise InvalidQuery(f"Cannot rename the {ROOT} directory itself")
        if end == ROOT or self._documents.find(end) is not None or self._documents.below(end):
            raise InvalidRecord(f"The destination {end} already exists")
        self._require_seen(start, f"The path {start} does not exist")
        self._documents.rename(start, end)
        return f"Successfully renamed {start} to {end}"

    # What an agent may see

    def _is_there(self, document: Document) -> bool:
        """Tell whether there is a document for this agent; one that is only held back is there."""
        return not self._guard.only_approved or self._guard.origin(document).approved

    def _file(self, path: str) -> tuple[Document, str]:
        """Return a document, and what the agent sees of it; raises `WorkbenchError` where that is
        nothing.
        """
        require_trusted(self._context.library)
        place = cleaned(path)
        document = self._documents.find(place)
        if document is None and self._documents.below(place):
            raise InvalidQuery(f"The path {place} is not a file.")
        if document is None:
            raise _missing(place)
        return document, self._seen(document)

    def _seen(self, document: Document) -> str:
        """Return a document as the agent sees it; raises when it does not."""
        if not self._is_there(document):
            raise _missing(document.path)
        if self._guard.refused(document, [document.content], self._guard.origin(document)):
            raise InvalidQuery(
                f"{document.path} is held back because of its text.",
                "A person has to review it.",
            )
        return self._guard.text(document.content, document)

    def _require_seen(self, place: str, missing: str) -> None:
        """Refuse to move or remove what the agent does not see."""
        require_trusted(self._context.library)
        one = self._documents.find(place)
        found = [one] if one is not None else list(self._documents.below(place))
        if not any(map(self._is_there, found)):
            raise UnknownRecord(missing)
        for document in found:
            self._seen(document)

    def _folder(self, place: str) -> str:
        given = [one for one in self._documents.below(place) if self._is_there(one)]
        if not given and place != ROOT:
            raise _missing(place)
        sizes = Counter[str]({"": 0})
        for one in given:
            size = len(one.content.encode("utf-8", "surrogatepass"))
            sizes[""] += size
            parts = one.path[len(place) + 1 :].split("/")
            for depth in range(1, min(len(parts), _DEPTH) + 1):
                sizes["/".join(parts[:depth]) + ("/" if depth < len(parts) else "")] += size
        header = f"Here're the files and directories up to 2 levels deep in {place}, excluding hidden items:"
        rows = [f"{size_of(sizes.pop(''))}\t{place}"]
        for name in sorted(sizes, key=lambda one: one.rstrip("/").split("/")):
            if not any(part.startswith(".") for part in name.split("/")):
                rows.append(
                    f"{size_of(sizes[name])}\t{place}/{plain_name(name, self._safety.findings)}"
                )
        return "\n".join((header, *rows))


def _missing(place: str) -> UnknownRecord:
    return UnknownRecord(f"The path {place} does not exist. Please provide a valid path.")


def size_of(number: int) -> str:
    """Return a number of bytes as the tool says it: `0B`, `1.5K`."""
    unit = min(max(number.bit_length() - 1, 0) // 10, 3)
    value = number / 1024**unit
    return f"{int(value) if value == int(value) else f'{value:.1f}'}{'BKMG'[unit]}"


def _numbered(rows: Iterable[str], first: int) -> str:
    return "\n".join(
        f"{str(number).rjust(_WIDTH)}\t{row}" for number, row in enumerate(rows, first)
    )
