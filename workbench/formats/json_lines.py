"""JSON lines of anybody: one object a line, of which one field is the text; ids and the rest as far
as it says them.

So agents log lessons, notes and facts, each under names of its own. The text is looked for under
the names that people use; where none of them is there, a person names the field, or the longest
text is taken once the format is asked for.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

from workbench.core.files.format import Format, Parsed, ReadContext, Sure
from workbench.core.record import UnreadableFile, iso
from workbench.core.stream.memory import OBSERVATION_TYPES, Memory, Source
from workbench.formats.lifecycle import content_id
from workbench.formats.shared import jsonstream, values
from workbench.formats.shared.jsonstream import objects
from workbench.formats.shared.records import (
    NO_CONTEXT,
    Doc,
    Key,
    at_time_of,
    created_at,
    kept,
    made,
    remembered,
    restored,
    take_count,
    take_tags,
    take_text,
)
from workbench.formats.shared.report import Report
from workbench.formats.shared.values import Notes, an_object

NAME = "json-lines"
TEXTS = (
    "content", "text", "memory", "lesson", "learning", "insight", "fact", "statement", "observation", "note", "message",
    "value", "body", "description", "detail", "details", "summary", "finding", "decision", "rule",
)  # fmt: skip
"""What people call the field that holds the text, in the order of asking."""

_TITLES = ("title", "subject", "headline", "topic", "task", "name", "key", "summary")
_TIMES = (
    "timestamp",
    "created_at",
    "createdAt",
    "created",
    "ts",
    "time",
    "datetime",
    "date",
    "at",
    "updated_at",
)
_IDS = ("id", "uuid", "_id")
_KINDS = ("type", "kind", "category")
_SESSIONS = ("session_id", "run_id")
_SPEAKERS = ("speaker", "role", "author", "agent")
_HELPFUL = ("helpful", "helpful_count", "helpfulCount")
_HARMFUL = ("harmful", "harmful_count", "harmfulCount")
_LOG = frozenset(
    {"level", "severity", "levelname", "log_level", "loglevel", "pid", "hostname", "logger"}
)
"""Names that only logs of programs have."""
_SESSION = re.compile(r'"(?:sessionId|messageId|leafUuid|session_meta|response_item)"')
_OWN = frozenset({"id", "text", "created_at"})


class _Names(NamedTuple):
    """What a line calls its text, its title, its kind and its votes; an empty name where it has
    none of that.
    """

    text: str
    title: str
    kind: str
    helpful: str
    harmful: str


def detect(head: str, path: str) -> Sure | None:
    """Not very sure: every line is an object, most of them with a text under a name that people
    use.
    """
    if not head.lstrip().startswith("{") or _SESSION.search(head):
        return None
    docs = objects(head)
    named = [doc for doc in docs if doc is not None and _text_name(doc, "")]
    if not named or 2 * len(named) < len(docs) or any(_LOG & doc.keys() for doc in named):
        return None
    suffix = PurePath(path).suffix.lower()
    if len(named) < 2 and suffix not in (".jsonl", ".ndjson") and named[0].keys() != _OWN:
        return None
    return (0.35, f"JSON lines with “{_text_name(named[0], '')}”")


def fields(head: str) -> tuple[str, ...]:
    """Return the names of the fields that hold texts in the first lines, those with the most to
    read first.
    """
    read = Counter[str]()
    for doc in objects(head):
        read.update(
            {name: len(value) for name, value in (doc or {}).items() if isinstance(value, str)}
        )
    return tuple(name for name, _ in read.most_common())


def _text_name(doc: Doc, wanted: str) -> str:
    names = (wanted,) if wanted else TEXTS
    return next((name for name in names if _said(doc.get(name))), "")


def _said(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def read(text: str, context: ReadContext) -> Parsed:
    """Read every line that says something; the others become issues. Raises `UnreadableFile` where
    none can.
    """
    report, wanted = Report(context.file), _wanted(text, context)
    if wanted and not context.text_name:
        report.mapped("content", f"taken from “{wanted}”, the longest text of a line")
    rows = jsonstream.documents(text, report, context.watch)
    found = report.every(rows, _reader(wanted, context))
    if not found and not any(_text_name(doc, wanted) for doc in objects(text) if doc):
        there = ", ".join(f"“{name}”" for name in fields(text)[:5])
        raise UnreadableFile(
            f"No line of {context.file} has a text under “{context.text_name}”." if context.text_name
            else f"No line of {context.file} has a text.",
            f"Fields with texts: {there}. Nothing was read." if there else "Nothing was read.",
        )  # fmt: skip
    return report.parsed(NAME, memories=found, layout=jsonstream.layout_of(text))


def _wanted(text: str, context: ReadContext) -> str:
    """Return the name of the text where it is none of those that are known: the one named, or the
    longest.
    """
    if context.text_name:
        return context.text_name
    if any(_text_name(doc, "") for doc in objects(text) if doc):
        return ""
    return next(iter(fields(text)), "")


def _reader(wanted: str, context: ReadContext) -> jsonstream.ReadOne:
    """Return what reads a line; ids that come again are numbered."""
    seen = Counter[str]()

    def numbered(doc: Any) -> tuple[Memory, Notes]:
        memory, notes = _memory(doc, wanted, context)
        seen[memory.id] += 1
        times = seen[memory.id]
        return replace(memory, id=f"{memory.id}-{times}") if times > 1 else memory, notes

    return numbered


def _memory(doc: Any, wanted: str, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one line; `wanted` names its text where that is none of the names that are known."""
    doc = an_object(doc, "a record")
    names, notes = _names(doc, wanted), Notes()
    if not names.text:
        raise ValueError(
            f"it has no text under “{wanted}”"
            if wanted
            else "it has no text under a name that is known"
        )
    content, created = doc[names.text], created_at(doc, _TIMES, context, notes)
    kind = take_text(doc, names.kind, notes) if names.kind else ""
    memory = made(
        context,
        notes,
        _id(doc, names),
        content,
        created,
        kind.lower() if kind.lower() in OBSERVATION_TYPES else "general",
        summary=_line(doc.get(names.title)),
        memory_type="episodic",
        category=kind,
        tags=take_tags(doc, "tags", notes),
        session_id=next((take_text(doc, name, notes) for name in _SESSIONS if doc.get(name)), ""),
        source=Source(
            speaker=next(
                (found for name in _SPEAKERS if (found := values.speaker(doc.get(name)))), None
            )
        ),
        helpful_imported=take_count(doc, names.helpful, notes),
        harmful_imported=take_count(doc, names.harmful, notes),
    )
    known = (*_IDS, *_SESSIONS, *_SPEAKERS, *_TIMES)
    return remembered(memory, doc, _keys(names), NAME, known, {"names": list(names)}), notes


def _names(doc: Doc, wanted: str) -> _Names:
    text = _text_name(doc, wanted)
    title = next((name for name in _TITLES if name != text and _said(doc.get(name))), "")
    kind = next((name for name in _KINDS if name not in (text, title) and _said(doc.get(name))), "")
    return _Names(text, title, kind, _count_name(doc, _HELPFUL), _count_name(doc, _HARMFUL))


def _count_name(doc: Doc, names: Sequence[str]) -> str:
    """Return what a line calls a count, or is to call it: a name under which it says nothing else."""
    there = (name for name in names if values.is_whole(doc.get(name)))
    return next(there, next((name for name in names if name not in doc), f"{names[0]}_votes"))


def _line(value: object) -> str:
    return values.flat(value)[:200] if isinstance(value, str) else ""


def _id(doc: Doc, names: _Names) -> str:
    """Return the id a line gives, else one of what does not change with its text: its time and
    title; else of that.

    A number, which lines of other files have as well, is a part of one.
    """
    if said := _said_id(doc):
        return said
    given = next((doc[name] for name in _IDS if name in doc), None)
    when = next((str(doc[name]) for name in _TIMES if _is_moment(doc.get(name))), "")
    number = f"{given} " if isinstance(given, str | int) else ""
    return (
        content_id(number + str(doc.get(names.title, "")), when)
        if when
        else content_id(number + doc[names.text])
    )


def _said_id(doc: Doc) -> str:
    """Return the id that a line says, of which a number is none; nothing where it says none."""
    given = (said.strip() for name in _IDS if isinstance(said := doc.get(name), str))
    return next((said for said in given if said and not said.isdigit()), "")


def _is_moment(value: object) -> bool:
    """Tell whether a value is a time of day, which hardly two lines share; a day alone is none."""
    return (isinstance(value, str) and ":" in value) or (
        isinstance(value, int | float) and value > 1e9
    )


def _keys(names: _Names) -> tuple[Key[Memory], ...]:
    def titled(memory: Memory) -> Any:
        return memory.summary

    def kind(memory: Memory) -> Any:
        return memory.category

    return (
        Key(names.text, lambda memory: memory.content),
        *((Key(names.title, titled),) if names.title else ()),
        *((Key(names.kind, kind),) if names.kind else ()),
        Key("tags", lambda memory: list(memory.tags) or None),
        Key(names.helpful, lambda memory: memory.helpful_count or None),
        Key(names.harmful, lambda memory: memory.harmful_count or None),
    )


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories, one a line; with `original`, only lines whose memory changed are new."""
    name = _wanted(original, NO_CONTEXT) if original else ""
    name = name or next(
        (found for doc in objects(original or "") if doc and (found := _text_name(doc, ""))),
        "text",
    )
    texts = Counter(names.text for memory in parsed.memories if (names := _names_of(memory)))
    wanted = next((text for text, _ in texts.most_common(1) if text not in TEXTS), "")

    context = replace(NO_CONTEXT, text_name=wanted)
    read = _reader(_wanted(original or "", context), context)
    return jsonstream.write_lines(parsed, original, read, lambda memory: _document(memory, name))


def _document(memory: Memory, name: str) -> Doc:
    """Return a line as it was read, with its changes; one from elsewhere under the name that a file
    has for texts.

    A line that would be known by another id from now on says the one that it has here.
    """
    names = _names_of(memory)
    doc = None
    if names is not None:
        doc = restored(
            memory, _keys(names), NAME, lambda doc: _memory(doc, names.text, at_time_of(memory))[0]
        )
    if doc is None or names is None:
        return {"id": memory.id, name: memory.content, "created_at": iso(memory.created_at)}
    # A number that the file gives a line stays what it is.
    name = next((name for name in _IDS if name not in doc), "")
    if _id(doc, names) == memory.id or not name or (name != _IDS[0] and _said_id(doc)):
        return doc
    return {**doc, name: memory.id}


def _names_of(memory: Memory) -> _Names | None:
    """Return what the line of a memory calls its parts; `None` when it is from no such line."""
    named = kept(memory, NAME, "names", list[str]())
    is_whole = len(named) == len(_Names._fields) and all(isinstance(one, str) for one in named)
    return _Names(*named) if is_whole else None


FORMAT = Format(NAME, "JSON lines", detect, read, write, suffix=".jsonl")
