"""Records of other tools' files: what a record cannot hold is kept with it, and only what changed
is written.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from workbench.core.files.format import ReadContext
from workbench.core.playbook.book import Bullet
from workbench.core.record import as_object, without
from workbench.core.stream.memory import FILE_KEY, STATUSES, Memory, Status, broken_rule
from workbench.formats.patch import alike
from workbench.formats.shared import values
from workbench.formats.shared.values import Decode, Notes, slug

# Records of other tools' files: what a record cannot hold is kept with it, and only what changed is
# written.
#
# A reader keeps the keys it does not know in the metadata, and under `FILE_KEY` what a plain record
# of the format would not reproduce: `order` (the keys), `raw` (values written in another form) and
# `format`. A writer asks which keys two versions of a record differ in, and touches only those.


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_CONTEXT = ReadContext(now=_EPOCH, file="", importance=lambda *_: 5.0)
"""For reading a file that is about to be replaced, where times and ratings do not matter."""

R = TypeVar("R", Memory, Bullet)
K = TypeVar("K", str, int)
V = TypeVar("V")
Doc = dict[str, Any]


class Gone:
    """Stands for a key that is to be removed."""


GONE = Gone()


@dataclass(frozen=True, slots=True)
class Key(Generic[R]):
    """A key of a format, the JSON value that a record has there, and the value that needs no key."""

    name: str
    write: Callable[[R], Any]
    absent: Any = None


def take(doc: Mapping[str, Any], name: str, decode: Decode, default: Any, notes: Notes) -> Any:
    """Return the value of a key, `default` when it is absent, null or means nothing; changes go to
    `notes`.
    """
    raw = doc.get(name)
    if raw is None:
        return default
    try:
        value, note = decode(raw)
    except ValueError as problem:
        notes.append((name, f"left out: {problem}"))
        return default
    if note:
        notes.append((name, note))
    return value


def take_text(doc: Mapping[str, Any], name: str, notes: Notes) -> str:
    """Return the text of a key; empty where it says nothing."""
    return str(take(doc, name, values.text, "", notes))


def take_count(doc: Mapping[str, Any], name: str, notes: Notes) -> int:
    """Return the count of a key; 0 where it says none."""
    return int(take(doc, name, values.count, 0, notes))


def take_tags(doc: Mapping[str, Any], name: str, notes: Notes) -> tuple[str, ...]:
    """Return the distinct texts in the list of a key."""
    return tuple(dict.fromkeys(take(doc, name, values.texts, (), notes)))


def joined(*parts: str) -> str:
    """Return the parts of an id that say something, with hyphens between."""
    return "-".join(part for part in parts if part)


def required_text(doc: Mapping[str, Any], name: str) -> str:
    """Return the text of a key. Raises `ValueError` when there is none."""
    value = doc.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"it has no {name}")
    return value


def remembered(
    record: R,
    doc: Mapping[str, Any],
    keys: Sequence[Key[R]],
    format: str,
    known: Sequence[str] = (),
    place: Mapping[str, Any] | None = None,
) -> R:
    """Return `record` with what `doc` says beyond it: unknown keys as metadata, the rest under
    `FILE_KEY`.

    `known` names keys that the record holds but that are never written; `place` says where in the
    file the record stood.
    """
    written: dict[str, Key[R]] = {key.name: key for key in keys}
    private = {*written, *known, FILE_KEY}
    extra = without(doc, *private)
    part: Doc = {"format": format, "order": list(doc), "raw": {}, **(place or {})}
    found = replace(record, metadata={**extra, **record.metadata, FILE_KEY: part})
    part["raw"] = {
        name: value
        for name, value in doc.items()
        if name in private and (name not in written or not alike(value, written[name].write(found)))
    }
    return found


def restored(
    record: R, keys: Sequence[Key[R]], format: str, read: Callable[[Doc], R]
) -> Doc | None:
    """Return the document `record` was read from, with its changes; None when it is from no file of
    `format`.

    `read` makes a record of a document.
    """
    if file_part(record, format) is None:
        return None
    order, raw = kept(record, format, "order", list[Any]()), kept(record, format, "raw", Doc())
    written: dict[str, Key[R]] = {key.name: key for key in keys}
    doc: Doc = {}
    for name in (name for name in order if isinstance(name, str)):
        if name in raw:
            doc[name] = raw[name]
        elif name in written:
            doc[name] = written[name].write(record)
        elif name in record.metadata:
            doc[name] = record.metadata[name]
    try:
        old = read(doc)
    except ValueError:
        return None
    return updated(doc, changes(old, record, keys))


def file_part(record: R, format: str) -> Mapping[str, Any] | None:
    """Return what the reader of `format` kept under `FILE_KEY`; None when another one, or none,
    did.
    """
    part = as_object(record.metadata.get(FILE_KEY))
    return part if part.get("format") == format else None


def kept(record: R, format: str, name: str, default: V) -> V:
    """Return what the reader of `format` kept of a record under a name, if it is of that kind."""
    value = (file_part(record, format) or {}).get(name)
    return value if isinstance(value, type(default)) else default


def changes(old: R, new: R, keys: Sequence[Key[R]]) -> dict[str, Any]:
    """Return the keys in which two versions of a record differ, with the new value or `GONE`.

    Of the metadata, only what the file had is compared: notes that the workbench adds stay in the
    store. A record that came from elsewhere does not know the file's other keys: they stay.
    """
    found: dict[str, Any] = {}
    for key in keys:
        value = key.write(new)
        if not alike(value, key.write(old)):
            found[key.name] = GONE if value is None else value
    place, other = (as_object(record.metadata.get(FILE_KEY)).get("format") for record in (old, new))
    if place != other:
        return found
    for name in old.metadata.keys() - {FILE_KEY}:
        if name not in new.metadata:
            found[name] = GONE
        elif new.metadata[name] != old.metadata[name]:
            found[name] = new.metadata[name]
    return found


def updated(doc: Doc, changed: Mapping[str, Any]) -> Doc:
    """Return `doc` with the changed keys; new ones follow at the end."""
    out = {**doc, **changed}
    return {name: value for name, value in out.items() if value is not GONE}


def with_records(
    docs: Mapping[K, Any],
    new: Mapping[str, R],
    read: Callable[[K, Any, ReadContext], R],
    keys: Callable[[R], Sequence[Key[R]]],
) -> tuple[dict[K, Any], list[R]]:
    """Return the documents of a file as the records say that are to be in it, and the records that
    it does not have.

    `read` reads the document at a place; what cannot be read stays, and of an id that comes twice
    the second one.
    """
    out, known = dict[K, Any](), set[str]()
    for at, doc in docs.items():
        out[at] = doc
        with suppress(ValueError):
            before = read_again(new, partial(read, at, doc))
            if before.id in known:
                continue
            known.add(before.id)
            if before.id in new:
                out[at] = updated(doc, changes(before, new[before.id], keys(before)))
            else:
                del out[at]
    return out, [record for name, record in new.items() if name not in known]


def fresh(record: R, keys: Sequence[Key[R]]) -> Doc:
    """Return a document for a record that is from no file: every key that says something."""
    return {key.name: value for key in keys if (value := key.write(record)) != key.absent}


def at_time_of(record: R) -> ReadContext:
    """Return a context that gives a record without times those that this one has, so that they do
    not differ.
    """
    created = record.created_at
    importance = record.importance_score if isinstance(record, Memory) else 5.0
    return ReadContext(now=created or _EPOCH, file="", importance=lambda *_: importance)


def read_again(new: Mapping[str, R], read: Callable[[ReadContext], R]) -> R:
    """Read a record of the file that is being replaced; what the file leaves open is as in its new
    version.

    Raises what `read` raises. Its id must not depend on the context.
    """
    first = read(NO_CONTEXT)
    return read(at_time_of(new[first.id])) if first.id in new else first


# What every reader of other tools' memories does: name them, date them, rate them, check them.


_LONGEST_COUNT = 6
_PLAIN_FOLDERS = frozenset({"memory", "detail", "working-memory", ".claude"})


def digest(*parts: str) -> str:
    """Return six hexadecimal digits that tell texts apart."""
    return sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:6]


def unique_id(prefix: str, name: str) -> str:
    """Make a readable id of a name; different names never share one."""
    return joined(prefix, slug(name), digest(name))


def place(context: ReadContext) -> str:
    """Return the project or session folder that a file belongs to, as part of an id; empty when
    unknown.
    """
    folders = list(PurePath(context.path).parts[1:-1])
    while folders and folders[-1] in _PLAIN_FOLDERS:
        folders.pop()
    return slug(folders[-1]) if folders else ""


def created_at(
    doc: Mapping[str, Any],
    names: Sequence[str],
    context: ReadContext,
    notes: Notes,
    decode: Decode = values.time,
) -> datetime:
    """Return the first time among some keys, or the time of the import; `decode` reads one."""
    for name in names:
        found = take(doc, name, decode, None, notes)
        if isinstance(found, datetime):
            return found
    notes.append(("created_at", "set to the time of the import, the record has none"))
    return context.now


def rating(context: ReadContext, observation_type: str, content: str, notes: Notes) -> float:
    """Return the importance of a record that brings none."""
    notes.append(("importance", "rated from type and content, the record has none"))
    return min(max(float(context.importance(observation_type, content)), 0.0), 10.0)


def made(
    context: ReadContext,
    notes: Notes,
    id: str,
    content: str,
    created: datetime,
    observation_type: str = "general",
    *,
    score: float | None = None,
    **said: Any,
) -> Memory:
    """Return a memory as it is read: rated where it brings no `score`. Raises `ValueError` with the
    rule of the data model that it breaks.
    """
    score = rating(context, observation_type, content, notes) if score is None else score
    said = {"last_accessed_at": created, "observation_type": observation_type, **said}
    memory = Memory(id, content, created, importance_score=score, **said)
    problem = broken_rule(memory)
    if problem:
        raise ValueError(problem)
    return memory


COUNTS = ("helpful", "harmful")
"""The names in front matter under which votes are counted."""


def votes_in(facts: Mapping[str, str]) -> tuple[int, int]:
    """Return how often a file's front matter says that its record helped and harmed; what is no
    count is none.
    """
    helpful, harmful = (facts.get(name, "").strip() for name in COUNTS)
    return _votes(helpful), _votes(harmful)


def _votes(said: str) -> int:
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _LONGEST_COUNT else 0


def status_in(facts: Mapping[str, Any]) -> Status:
    """Return the status that a file states for its record; a signal where it states none that is
    known.
    """
    said = str(facts.get("status", "")).strip("\"'")
    return next((status for status in STATUSES if status == said), "signal")
