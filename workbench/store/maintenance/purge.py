"""Erasing records for good: from the checkpoint, every journal segment, copies and caches.

What stays is that there was a record of that id, who touched it and when. There is no undo. The
line that says that something is erased tells that it is not done yet, until it is rewritten itself,
last of all: a broken purge is found.
"""

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.document import to_doc
from workbench.core.health import PurgedRecord, Unfinished
from workbench.core.record import StoreProblem, UnknownRecord, why_failed, without
from workbench.store import history
from workbench.store.blobs import BlobProblem, Blobs
from workbench.store.entry import HEAD, REFUSED, Doc, DocChange, Transaction, from_json
from workbench.store.files import DOCUMENTS, open_lines, read_lines_of
from workbench.store.identity import mark_of as text_mark
from workbench.store.identity import marks_key
from workbench.store.journal.codec import BadLine, dumps, hash_of, read_line
from workbench.store.journal.engine import Journal
from workbench.store.journal.reorder import NewLine, relink
from workbench.store.journal.segments import NAME, Stamp, is_header
from workbench.store.journal.state import Tables
from workbench.store.maintenance import checkpoint_writer
from workbench.store.records import IN_BLOBS, key_of

# Taking records and their texts out of what a store has written, line by line.


MARK = "[purged]"

_KEPT = frozenset({"id", "book"})
_PROSE = frozenset({"content", "summary"})
_LEAST = 12
_GRAM = 8


class Redactor:
    """Rewrites values and lines so that some documents, and every text they ever held, are in them
    no more.

    `doomed` are (table, document id) pairs, `names` the ids of these records, `texts` as `texts_of`
    gives them. `lines` counts the lines that were changed, `dropped` the damaged ones that had to
    go.
    """

    def __init__(
        self, doomed: frozenset[tuple[str, str]], names: frozenset[str], texts: Iterable[str]
    ) -> None:
        self.lines = 0
        self.dropped = 0
        self._doomed = doomed
        self._names = names
        self._texts = sorted(set(texts), key=len, reverse=True)
        self._grams = frozenset(
            t[i : i + _GRAM] for t in self._texts for i in range(len(t) - _GRAM + 1)
        )
        self._needles = [
            n for text in self._texts for n in {dumps(text)[1:-1], text.encode(), _ascii(text)}
        ]

    def clean(self, _: str, lines: Iterable[bytes]) -> Iterator[NewLine]:
        """Yield the lines of a segment (with their line ends) as they are to be from now on, without
        damaged ones with a text in them.
        """
        for raw in lines:
            try:
                value, sealed = read_line(raw[:-1])
            except BadLine:
                if self.is_in(raw) or self.names_in(raw):
                    self.dropped += 1
                else:
                    yield raw
                continue
            if is_header(value):
                clean = value
            elif "level" not in value or not from_json(value).label.startswith(REFUSED):
                clean = self._entry(value)
            elif self.is_in(raw) or self.names_in(raw):  # it has no effect, whatever it says
                head = {name: part for name, part in value.items() if name in HEAD}
                clean = {**head, "label": MARK, "changes": []}
            else:
                clean = value
            if clean != value:
                self.lines += 1
            yield raw if clean == value else (clean, sealed)

    def doc(self, table: str, doc_id: str, doc: dict[str, Any]) -> dict[str, Any] | None:
        """Return a document without the texts, or `None` for one that is to be erased."""
        if (table, doc_id) in self._doomed:
            return None
        clean: dict[str, Any] = self.value(doc)
        return doc if clean == doc else clean

    def value(self, value: Any) -> Any:
        """Return a JSON value in which every erased text is replaced by the mark, also inside
        longer texts.
        """
        if isinstance(value, str):
            for text in self._texts:
                if text in value:
                    value = value.replace(text, MARK)
            return value
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.value(name): self.value(item) for name, item in value.items()}
        return value

    def is_in(self, data: bytes) -> bool:
        """Tell whether bytes hold an erased text, as it is or as JSON writes it."""
        return any(needle in data for needle in self._needles)

    def names_in(self, data: bytes) -> bool:
        """Tell whether bytes name an erased record."""
        return any(dumps(name) in data for name in self._names)

    def _entry(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return a transaction without the texts; revision, time, actor and what it touched stay."""
        changes = value.get("changes", [])
        touched = any(self._is_doomed(change) for change in changes)
        label = value.get("label", "")
        clean = MARK if touched and self._quotes(label) else self.value(label)
        return {**value, "label": clean, "changes": [self._change(change) for change in changes]}

    def _change(self, change: dict[str, Any]) -> dict[str, Any]:
        held = {part: change[part] for part in ("doc", "fields") if part in change}
        if not self._is_doomed(change):
            return {**change, **{part: self.value(fields) for part, fields in held.items()}}
        bare = without(change, "doc", "fields", "inc")
        for part, fields in held.items():
            kept = {name: value for name, value in fields.items() if name in _KEPT}
            bare |= {part: kept} if kept else {}
        return {**bare, "redacted": True}

    def _is_doomed(self, change: dict[str, Any]) -> bool:
        return (change.get("table"), change.get("id")) in self._doomed

    def _quotes(self, label: str) -> bool:
        return any(label[i : i + _GRAM] in self._grams for i in range(len(label) - _GRAM + 1))


def texts_of(fields: dict[str, Any]) -> Iterator[str]:
    """Yield what of a document's fields is text to be looked for elsewhere.

    Content and summary, whole and line by line, and any other text with a space in it; short
    ones are left out, they would be found everywhere.
    """
    for name, value in fields.items():
        if name in _KEPT:
            continue
        for text in _strings(value):
            for piece in (text, *(line.strip() for line in text.splitlines())):
                if len(piece) >= _LEAST and (name in _PROSE or " " in piece):
                    yield piece


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def _ascii(text: str) -> bytes:
    """Return a text as programs write it in JSON that keep to ASCII."""
    return json.dumps(text)[1:-1].encode()


# What of records lies beside the store, for a purge: which files are theirs alone, and what is said
# in them.


Place = tuple[str, str]


class InBlobs(NamedTuple):
    """The files beside a store."""

    blobs: Blobs

    def named_by(self, journal: Journal, doomed: frozenset[Place]) -> frozenset[str]:
        """Return the hashes that documents have, or had at any time."""
        places = [place for place in doomed if place[0] in IN_BLOBS]
        found = {
            name
            for table, doc in places
            for name in self._of(table, journal.state.get(table, doc) or {})
        }
        for table, doc_id in places:
            for entry in journal.entries_back(f'"id":"{doc_id}"'.encode()):
                own = (
                    change
                    for change in entry.changes
                    if (change.table, change.doc) == (table, doc_id)
                )
                found.update(name for change in own for name in self._in(change))
        return frozenset(found)

    def texts(self, journal: Journal, doomed: frozenset[Place]) -> Iterator[str]:
        """Yield what the documents say in words of their own; of a file that cannot be read,
        nothing.
        """
        words = {part for table, _ in doomed if table in IN_BLOBS for part in IN_BLOBS[table].words}
        for name in sorted(self.named_by(journal, doomed)):
            with contextlib.suppress(BlobProblem, ValueError, RecursionError):
                body = json.loads(self.blobs.read(name))
                yield from texts_of({part: body[part] for part in words if part in body})

    def alone(self, journal: Journal, doomed: frozenset[Place]) -> list[str]:
        """Return the hashes of the files that no other record names or named, and of those that
        none does.
        """
        replaced = self.blobs.replaced()
        there = set(self.blobs.names())
        for name in self._elsewhere(journal, doomed, there | set(replaced)):
            there.discard(replaced.get(name, name))
            there.discard(name)
        return sorted(there)

    def _elsewhere(
        self, journal: Journal, doomed: frozenset[Place], names: set[str]
    ) -> Iterator[str]:
        """Yield those hashes that other records have, or had at any time: an undo brings those
        back.

        Records of kinds that only a later version knows may have some, too.
        """
        if not names:
            return
        for table, docs in journal.state.tables.items():
            for doc_id, doc in docs.items():
                if (table, doc_id) not in doomed:
                    yield from names.intersection(
                        value for value in doc.values() if isinstance(value, str)
                    )
        for entry in journal.entries_back(*(name.encode() for name in names)):
            for change in entry.changes:
                if (change.table, change.doc) not in doomed:
                    sides = (side for pair in change.fields.values() for side in pair)
                    yield from names.intersection(side for side in sides if isinstance(side, str))

    def _of(self, table: str, doc: Doc) -> tuple[str, ...]:
        name = doc.get(IN_BLOBS[table].field) if table in IN_BLOBS else None
        return (name,) if isinstance(name, str) and name else ()

    def _in(self, change: DocChange) -> Iterator[str]:
        kind = IN_BLOBS.get(change.table)
        sides = change.fields.get(kind.field, ()) if kind is not None else ()
        yield from (side for side in sides if isinstance(side, str) and side)


# Taking secrets out of what a store has written, line by line; the records they stand in stay.


WHOLE = 16
"""Characters from which a secret is looked for everywhere; shorter ones only where something tells
what they are.
"""


class Masker(Redactor):
    """Rewrites values and lines with `clean` over every text within, names of fields included.

    `secrets` are what is to be found nowhere afterwards: damaged lines and copies that hold one go
    as a whole.
    """

    def __init__(self, secrets: Iterable[str], clean: Callable[[str], str]) -> None:
        super().__init__(
            frozenset(), frozenset(), [secret for secret in secrets if len(secret) >= WHOLE]
        )
        self._clean = clean

    def value(self, value: Any) -> Any:
        """Return a JSON value without the secrets."""
        return self._clean(value) if isinstance(value, str) else super().value(value)

    def _entry(self, value: dict[str, Any]) -> dict[str, Any]:
        clean = {**super()._entry(value), "actor": self._clean(value.get("actor", ""))}
        if clean.get("kind") == "purge":
            clean.pop("more", None)  # it is done once this line is in place
        return clean


Beside = Callable[[], tuple[str, ...]]
"""Removes what was made of the texts outside the store, and names it."""

_LEFT = "purged"
"""The table of what is left of purged records."""

_WRITTEN = ("memories", "bullets")
"""The tables of texts that people and agents bring in."""

_COPIES = (
    "memory.edited-*.json",
    "memory.dismissed-*.json",
    "backup-*/*",
    "placing-*.json",
    "working/*.json",
)


@dataclass(frozen=True, slots=True)
class Purged:
    """What was removed where: records, journal lines that were changed, files rewritten and files
    removed.

    `damaged` counts unreadable journal lines that held the text and were removed whole.
    """

    records: tuple[tuple[str, str], ...]
    lines: int
    rewritten: tuple[str, ...]
    removed: tuple[str, ...]
    damaged: int


def unfinished_in(entry: Transaction) -> Unfinished | None:
    """Return what a transaction says of a purge that was broken off before its own line was
    rewritten.
    """
    if entry.kind != "purge":
        return None
    left = [change for change in entry.changes if change.op == "delete" and not change.redacted]
    if not (left or entry.more):
        return None
    docs = (
        (c.table, c.doc, {name: before for name, (before, _) in c.fields.items()}) for c in left
    )
    return Unfinished(
        entry.rev,
        not left,
        tuple((table, key_of(table, doc) or doc_id) for table, doc_id, doc in docs),
    )


def unfinished(journal: Journal) -> tuple[Unfinished, ...]:
    """Return the purges that were broken off, the latest first. Raises `StoreProblem`."""
    found = (unfinished_in(entry) for entry in journal.entries_back(b'"kind":"purge"'))
    return tuple(one for one in found if one is not None)


def purge(
    journal: Journal,
    records: Sequence[tuple[str, str]],
    actor: str,
    beside: Beside = lambda: (),
) -> Purged:
    """Erase records, given as (table, key), with every text they ever held.

    Other records that quote such a text get a mark in its place. Interrupted, it can be run again;
    when nothing of them is left, only copies and caches are looked at. `beside` is called before it
    is done, for what was made of the texts elsewhere. Raises `UnknownRecord`, and `StoreProblem`
    when a file cannot be rewritten.
    """
    with journal.exclusive():
        doomed = _doomed(journal, records)
        blobs = InBlobs(Blobs(journal.folder, journal.shared))
        texts = tuple(_texts(journal, doomed, blobs))
        left = tuple(_left_of(journal, records))
        redactor = Redactor(doomed, frozenset(k.rpartition("/")[2] for _, k in records), texts)
        if _is_erased(journal, doomed):
            with _said_when_unfinished(journal.folder):
                removed = (*_remove_copies(journal.folder, redactor), *beside())
                return Purged(tuple(records), 0, (), removed, 0)
        label = "purge 1 record" if len(records) == 1 else f"purge {len(records):,} records"
        with journal.transaction(actor, label, kind="purge") as staged:
            for table, doc_id in sorted(doomed):
                staged.delete(table, doc_id)
            for record in left:
                place = staged.doc_id_of(_LEFT, record.id) or str(staged.allocate(_LEFT))
                staged.put(_LEFT, place, to_doc(record))
        with _said_when_unfinished(journal.folder):
            # First of all: broken off after that, the journal still says which files they were.
            names = blobs.alone(journal, doomed)
            files = Blobs(journal.folder).remove(names)
        done = _carry_out(journal, redactor, tuple(records), beside)
        if journal.shared is not None:
            journal.shared.drop_blobs(names)
        return replace(done, removed=(*files, *done.removed))


def mask(journal: Journal, masker: Masker, actor: str, beside: Beside = lambda: ()) -> Purged:
    """Take secrets out of everything that was ever written; the records stay. Raises
    `StoreProblem`.

    Every one that was broken off before is done then, too. `beside` is called before it is done.
    """
    with journal.exclusive():
        # The line itself makes every reader look anew, and undo stop there. What is to follow is
        # its rewriting.
        with journal.transaction(actor, "mask secrets for good", kind="purge", more=True):
            pass
        return _carry_out(journal, masker, (), beside)


def _carry_out(
    journal: Journal, redactor: Redactor, records: tuple[tuple[str, str], ...], beside: Beside
) -> Purged:
    with _said_when_unfinished(journal.folder):
        tables, stamp = journal.snapshot()
        clean = _clean(tables, redactor)
        checkpoint_writer.save(journal.folder, clean, stamp, journal.identity.key)
        removed = (*_remove_copies(journal.folder, redactor), *beside())
        # The line that says that something is erased is the last one.
        rewritten = list(
            relink(
                journal.folder,
                redactor.clean,
                journal.identity.seal,
                journal.identity.strange_hashes,
            )
        )
        checkpoint_writer.save(
            journal.folder, clean, _moved(journal.folder, stamp), journal.identity.key
        )
        journal.reload()
        journal.remember()
    if journal.copy is not None:
        journal.copy.publish(journal.rev, journal.mark)
    return Purged(records, redactor.lines, (DOCUMENTS, *rewritten), removed, redactor.dropped)


def finder(journal: Journal, records: Sequence[tuple[str, str]]) -> Callable[[bytes], bool]:
    """Return what tells whether a file outside the store holds a text that records, given as
    (table, key), ever held.

    To be asked before they are purged: nothing is known of their texts afterwards. Raises
    `UnknownRecord`.
    """
    journal.refresh()
    doomed = _doomed(journal, records)
    return Redactor(
        doomed, frozenset(), _texts(journal, doomed, InBlobs(Blobs(journal.folder, journal.shared)))
    ).is_in


def _doomed(journal: Journal, records: Sequence[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for table, key in records:
        ids = history.doc_ids(journal, table, key)
        if not ids:
            raise UnknownRecord(f"{key} was never in {table}.", "Nothing was purged.")
        found.update((table, doc_id) for doc_id in ids)
    return frozenset(found)


def _texts(journal: Journal, doomed: frozenset[tuple[str, str]], blobs: InBlobs) -> Iterator[str]:
    """Yield every text that the doomed documents hold or held."""
    yield from blobs.texts(journal, doomed)
    for place in doomed:
        for fields in _every_field(journal, *place):
            yield from texts_of(fields)


def _is_erased(journal: Journal, doomed: frozenset[Place]) -> bool:
    """Tell whether the doomed documents are gone and no line says any more what they held."""
    return not any(journal.state.get(*place) for place in doomed) and all(
        change.redacted
        for _, doc_id in doomed
        for entry in journal.entries_back(f'"id":"{doc_id}"'.encode())
        for change in entry.changes
        if (change.table, change.doc) in doomed
    )


def _every_field(journal: Journal, table: str, doc_id: str) -> Iterator[dict[str, Any]]:
    """Yield what a document holds, and what it held before and after each change of it."""
    yield journal.state.get(table, doc_id) or {}
    for entry in journal.entries_back(f'"id":"{doc_id}"'.encode()):
        for change in entry.changes:
            if (change.table, change.doc) == (table, doc_id):
                for side in (0, 1):
                    yield {name: sides[side] for name, sides in change.fields.items()}


def _left_of(journal: Journal, records: Sequence[tuple[str, str]]) -> Iterator[PurgedRecord]:
    """Yield what is left of records that hold or held a text: it is recognised when it comes in
    again.

    An episode is recognised by its id, which follows from the session that it was made of.
    """
    key = marks_key(journal.heads, journal.store if journal.shared else "")
    for table, name in records:
        every = (
            fields
            for id in history.doc_ids(journal, table, name)
            for fields in _every_field(journal, table, id)
        )
        texts = (
            {text for fields in every if isinstance(text := fields.get("content"), str)}
            if table in _WRITTEN
            else ()
        )
        if texts or table == "episodes":
            marks = sorted(text_mark(text, key) for text in texts) if key else ()
            yield PurgedRecord(f"{table}/{name}", journal.clock(), tuple(marks))


def _clean(tables: Tables, redactor: Redactor) -> Tables:
    clean: Tables = {}
    for table, docs in tables.items():
        kept = ((doc_id, redactor.doc(table, doc_id, doc)) for doc_id, doc in docs.items())
        clean[table] = {doc_id: doc for doc_id, doc in kept if doc is not None}
    return clean


def _moved(folder: Path, stamp: Stamp) -> Stamp:
    """Return the stamp with the place of the same revision in the rewritten active segment."""
    offset, count, last = 0, 0, b""
    with open_lines(folder / NAME) as file:
        for raw in read_lines_of(file):
            offset, count, last = offset + len(raw), count + 1, raw
    return stamp._replace(offset=offset, line=count, mark=hash_of(last[:-1]))


@contextmanager
def _said_when_unfinished(folder: Path) -> Iterator[None]:
    """Say of whatever stops a purge, once its own line is stored, that it was begun."""
    try:
        yield
    except OSError as error:
        raise _unfinished(folder, error) from error
    except StoreProblem as problem:
        cause = problem.__cause__
        raise _unfinished(
            folder, cause if isinstance(cause, OSError) else OSError(problem.message)
        ) from problem


def _unfinished(folder: Path, error: OSError) -> StoreProblem:
    """Say that the texts are gone from the present, and may still stand in some file."""
    why = why_failed(error)
    return StoreProblem(
        f"The purge could not be finished: {folder} cannot be written ({why}).",
        "The text may still be in some of its files; `workbench doctor --finish` continues it.",
    )


def _remove_copies(folder: Path, redactor: Redactor) -> Iterator[str]:
    """Remove copies that hold one of the records, and all caches: they are built again from what is
    left.
    """
    for pattern in _COPIES:
        for path in sorted(folder.glob(pattern)):
            # A link, or what lies behind one, is somebody else's.
            if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
                continue
            with open_lines(path) as file:
                data = file.read()
            if redactor.is_in(data) or redactor.names_in(data):
                path.unlink()
                yield str(path.relative_to(folder))
    cache = folder / "cache"
    if cache.is_symlink():
        cache.unlink()
        yield cache.name
    elif cache.is_dir():
        for path in sorted(cache.iterdir()):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            yield str(path.relative_to(folder))
