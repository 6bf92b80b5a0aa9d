"""The store's own documents below `/memories`: what the memory tool of an agent does, one transaction a command.

A person sees, corrects and undoes them as anything else. Texts are masked on the way in, as everywhere.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from workbench.core.agents.document import ROOT, Document
from workbench.core.agents.read import UNKNOWN, AgentRead, Provenance
from workbench.core.record import InvalidQuery, InvalidRecord, StoreProblem, UnknownRecord
from workbench.core.text import printable
from workbench.safety.scanning import secrets_in, without
from workbench.services.agents.blocks import Blocks, require_trusted
from workbench.services.agents.documents.recall import plain_name
from workbench.services.agents.reading_log import Asked, keep, new_id
from workbench.services.context import Context
from workbench.services.safety.provenance import provenances_of
from workbench.services.safety.safety import Safety
from workbench.store.records import place_of

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


# The commands of the memory tool over the store's documents, in the words of the SDK's own implementation.
#
# An agent sees masked text and never what is held back from it; it cannot change what it does not see. Each command
# is
# one transaction of the agent's, which a person sees, corrects and undoes. Raises `WorkbenchError` throughout.


DOOR = "memory"
"""How the tool is called among the doors that agents read by."""

_WIDTH = 6
_AROUND = 2
_DEPTH = 2
_MOST_LINES = 999_999
_MOST_NAMED = 10
_ROUNDS = 8
"""How often what is left is looked through for more secrets: one may only show once another is gone."""

Standing = Literal["given", "held", "unapproved"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as an agent sees it, and for each of its characters where that stands in the text, -1 in a marker."""

    text: str
    places: Sequence[int]

    def real(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a part stands in the text itself; `None` when it touches what is masked."""
        part = self.places[start:end]
        if not part or any(place < 0 for place in part) or part[-1] - part[0] != len(part) - 1:
            return None
        return part[0], part[-1] + 1


def shown(text: str) -> Shown:
    """Return a text with a marker for each of its secrets."""
    places: Sequence[int] = range(len(text))
    for _ in range(_ROUNDS):
        found = secrets_in(text)
        if not found:
            break
        parts, kept, at = list[str](), list[int](), 0
        for finding in found:
            marker = without(
                text[finding.start : finding.end], [finding._replace(start=0, end=finding.end - finding.start)]
            )
            parts += [text[at : finding.start], marker]
            kept += [*places[at : finding.start], *([-1] * len(marker))]
            at = finding.end
        kept += places[at:]
        text, places = "".join((*parts, text[at:])), kept
    return Shown(text, places)


class MemoryCommands:
    """What an agent does with the documents of a store; `session` is the agent's."""

    def __init__(self, context: Context, safety: Safety, session: str = "") -> None:
        if not context.actor.startswith("agent:"):
            raise InvalidRecord("Only an agent has a memory tool; a person edits documents.")
        self._context, self._safety, self._session = context, safety, session
        self._documents = StoredDocuments(context)

    def view(self, path: str, lines: tuple[int, int] | None = None) -> str:
        """Return a document with line numbers, or a folder with what is in it, two levels deep."""
        require_trusted(self._context.library)
        place = cleaned(path)
        document = self._documents.find(place)
        if document is None:
            return self._folder(place)
        text = self._seen(document).text
        rows = text.split("\n")
        if len(rows) > _MOST_LINES:
            raise InvalidQuery(f"File {place} exceeds maximum line limit of 999,999 lines.")
        first, last = lines if lines is not None else (1, -1)
        begin = max(1, first) - 1
        chosen = rows[begin : len(rows) if last == -1 else last]
        self._keep(place)
        body = "\n".join(_numbered(chosen, begin + 1))
        known = self._provenance(document)
        own = known.kind == "agent" and f"agent:{known.name}" == self._context.actor
        if not own:
            body = Blocks({}, {place: known}).enclosed(place, body)
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
        """Replace a text that stands in a document once; one that touches what is masked is refused."""
        require_trusted(self._context.library)
        document = self._file(path)
        seen, place = self._seen(document), document.path
        if not old:
            raise InvalidQuery("No replacement was performed: old_str is empty.", "Use insert to add text.")
        found = list(islice(_places(seen.text, old), _MOST_NAMED + 1))
        if not found:
            message = f"No replacement was performed, old_str `{old}` did not appear verbatim in {place}."
            raise InvalidQuery(message)
        if len(found) > 1:
            rows = ", ".join(str(seen.text.count("\n", 0, at) + 1) for at in found[:_MOST_NAMED])
            rows += " and more" if len(found) > _MOST_NAMED else ""
            message = f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {rows}."
            raise InvalidQuery(message, "Please ensure it is unique")
        real = seen.real(found[0], found[0] + len(old))
        if real is None:
            message = f"No replacement was performed: old_str touches a part of {place} that is masked."
            raise InvalidQuery(message, "A person can change that part; leave it out of old_str.")
        text = document.content[: real[0]] + new + document.content[real[1] :]
        after = self._documents.write(place, text, document)
        rows_after = self._shown(after).text.split("\n")
        changed = seen.text.count("\n", 0, found[0])
        begin = max(0, changed - _AROUND)
        snippet = _numbered(rows_after[begin : changed + _AROUND + 1], begin + 1)
        said = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        return said + "\n".join(snippet)

    def insert(self, path: str, line: int, text: str) -> str:
        """Put a text behind a line of a document (0: at the top)."""
        require_trusted(self._context.library)
        document = self._file(path)
        self._seen(document)
        rows = document.content.split("\n")
        if rows[-1] == "":
            rows.pop()
        if not 0 <= line <= len(rows):
            message = f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(rows)}]."
            raise InvalidQuery(message)
        if self._is_masked_across(document, rows, line):
            raise InvalidQuery(f"Line {line} of {document.path} stands within a part that is masked.")
        rows.insert(line, text.rstrip("\n"))
        content = "\n".join(rows)
        self._documents.write(document.path, content if content.endswith("\n") else content + "\n", document)
        return f"The file {document.path} has been edited."

    def delete(self, path: str) -> str:
        """Remove a document, or a folder with all that is in it."""
        require_trusted(self._context.library)
        place = cleaned(path)
        if place == ROOT:
            raise InvalidQuery(f"Cannot delete the {ROOT} directory itself")
        self._require_seen(place, f"The path {place} does not exist")
        self._documents.delete(place)
        return f"Successfully deleted {place}"

    def rename(self, old: str, new: str) -> str:
        """Move a document, or a folder with all that is in it."""
        require_trusted(self._context.library)
        start, end = cleaned(old), cleaned(new)
        if start == ROOT:
            raise InvalidQuery(f"Cannot rename the {ROOT} directory itself")
        if end == ROOT or self._documents.find(end) is not None or self._documents.below(end):
            raise InvalidRecord(f"The destination {end} already exists")
        self._require_seen(start, f"The path {start} does not exist")
        self._documents.rename(start, end)
        return f"Successfully renamed {start} to {end}"

    # What an agent may see

    def _standing(self, document: Document) -> Standing:
        only = self._context.settings.agents.only_approved(self._context.actor)
        if only and not self._provenance(document).approved:
            return "unapproved"
        kinds = {finding.kind for finding in self._safety.sorts(document.content)}
        held = kinds & {"injection", "hidden"} and self._safety.override(document) is None
        return "held" if held else "given"

    def _file(self, path: str) -> Document:
        place = cleaned(path)
        document = self._documents.find(place)
        if document is None and self._documents.below(place):
            raise InvalidQuery(f"The path {place} is not a file.")
        if document is None or self._standing(document) == "unapproved":
            raise UnknownRecord(f"The path {place} does not exist. Please provide a valid path.")
        return document

    def _seen(self, document: Document) -> Shown:
        """Return a document as the agent sees it; raises when it does not."""
        standing = self._standing(document)
        if standing == "unapproved":
            raise UnknownRecord(f"The path {document.path} does not exist. Please provide a valid path.")
        if standing == "held":
            raise InvalidQuery(f"{document.path} is held back for what its text says.", "A person has to look at it.")
        return self._shown(document)

    def _shown(self, document: Document) -> Shown:
        text = document.content
        return Shown(text, range(len(text))) if self._safety.override(document) is not None else shown(text)

    def _require_seen(self, place: str, missing: str) -> None:
        """Refuse to move or remove what the agent does not see."""
        one = self._documents.find(place)
        found = [one] if one is not None else list(self._documents.below(place))
        if not any(self._standing(document) != "unapproved" for document in found):
            raise UnknownRecord(missing)
        for document in found:
            self._seen(document)

    def _is_masked_across(self, document: Document, rows: Sequence[str], line: int) -> bool:
        """Tell whether a secret goes on from one line to the next at the place of a line."""
        at = sum(len(row) + 1 for row in rows[:line])
        places = self._shown(document).places
        gone = set(range(len(document.content))) - set(places)
        return at in gone and at - 1 in gone

    def _provenance(self, document: Document) -> Provenance:
        return provenances_of(self._context, [document]).get(place_of(document), UNKNOWN)

    def _folder(self, place: str) -> str:
        given = [one for one in self._documents.below(place) if self._standing(one) != "unapproved"]
        if not given and place != ROOT:
            raise UnknownRecord(f"The path {place} does not exist. Please provide a valid path.")
        sizes: dict[str, int] = {}
        for one in given:
            size = len(one.content.encode("utf-8", "surrogatepass"))
            sizes[place] = sizes.get(place, 0) + size
            parts = one.path[len(place) + 1 :].split("/")
            for depth in range(1, min(len(parts), _DEPTH) + 1):
                name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
                sizes[name] = sizes.get(name, 0) + size
        header = f"Here're the files and directories up to 2 levels deep in {place}, excluding hidden items:"
        rows = [f"{size_of(sizes.pop(place, 0))}\t{place}"]
        look = self._safety.findings
        rows += [f"{size_of(size)}\t{place}/{plain_name(name, look)}" for name, size in _listed(sizes)]
        return "\n".join((header, *rows))

    def _keep(self, place: str) -> None:
        """Keep that the agent read a document; a store that cannot be written still shows it."""
        agent = self._context.actor.removeprefix("agent:")
        asked = Asked(DOOR, self._session)
        read = AgentRead(
            new_id(), agent, self._context.now(), f"view {place}", asked.session, asked.door, documents=(place,)
        )
        try:
            keep(self._context, [read])
        except StoreProblem:
            return


def size_of(number: int) -> str:
    """Return a number of bytes as the tool says it: `0B`, `1.5K`."""
    unit = min(max(number.bit_length() - 1, 0) // 10, 3)
    value = number / 1024**unit
    return f"{int(value) if value == int(value) else f'{value:.1f}'}{'BKMG'[unit]}"


def _listed(sizes: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Yield names as a walk does: each folder before what is in it; hidden ones are left out."""
    for name in sorted(sizes, key=lambda one: one.rstrip("/").split("/")):
        if not any(part.startswith(".") for part in name.split("/")):
            yield name, sizes[name]


def _numbered(rows: Iterable[str], first: int) -> list[str]:
    return [f"{str(number).rjust(_WIDTH)}\t{row}" for number, row in enumerate(rows, first)]


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)
