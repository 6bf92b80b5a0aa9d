"""What the external memory of a project's last session has for a context: its overview, and what was said last.

Only what a person has looked at: of raw messages that went on since, nothing, for their last turns are those.
"""

import os
from collections.abc import Sequence

from workbench.core.agents.document import Document, citation
from workbench.core.files.fresh import open_handle
from workbench.core.record import UnreadableFile
from workbench.formats.external import spoken
from workbench.retrieval.patterns import telling, words_of
from workbench.services.agents.context.finders import Answer, Asking
from workbench.services.agents.context.values import Found, LeftOut
from workbench.services.agents.documents.documents import Documents
from workbench.services.agents.documents.instructions import DocumentFolder, Entry, decoded, open_folder, read_document

TURNS = 20
"""Turns that are looked at, the last ones."""

_TAIL = 256 << 10
"""Bytes at the end of raw messages in which they are looked for."""


def overview(asking: Asking) -> Answer:
    """Find the overview of the last session."""
    documents, folder = _last(asking)
    entry = None if folder is None else next((one for one in folder.entries if one.scope == "overview"), None)
    if folder is None or entry is None:
        return Answer(())
    try:
        opened = read_document(entry)
    except UnreadableFile:
        return Answer(())
    if not documents.seen(folder).trusts(opened):
        return Answer((), refused=(LeftOut(entry.path, "untrusted"),))
    return Answer(_fitting(asking, [opened.document]) if opened.document.content.strip() else ())


def turns(asking: Asking) -> Answer:
    """Find the last turns of the last session, the latest first."""
    documents, folder = _last(asking)
    entry = None if folder is None else folder.messages
    if folder is None or entry is None:
        return Answer(())
    if not documents.seen(folder).is_unchanged(entry):
        return Answer((), refused=(LeftOut(entry.path, "untrusted"),))
    return Answer(_fitting(asking, _turns(entry)))


def _fitting(asking: Asking, documents: Sequence[Document]) -> tuple[Found, ...]:
    """Return documents, with whether each has a word of what is said."""
    asked, its = words_of(asking.said), telling(*(one.content for one in documents))
    return tuple(Found(one, fits=not asked.isdisjoint(some)) for one, some in zip(documents, its, strict=True))


def _last(asking: Asking) -> tuple[Documents, DocumentFolder | None]:
    documents = Documents(asking.context)
    session = documents.last_session()
    try:
        return documents, None if session is None else open_folder(session)
    except UnreadableFile:
        return documents, None


def _turns(entry: Entry) -> list[Document]:
    """Return the last messages, the latest first, each cited by its line."""
    try:
        with os.fdopen(open_handle(entry.file, os.O_RDONLY), "rb") as file:
            before = sum(file.read(min(_TAIL, left)).count(b"\n") for left in range(entry.size - _TAIL, 0, -_TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except OSError:
        return []
    numbered = list(enumerate(lines, before + 1))
    found: list[Document] = []
    for number, line in reversed(numbered if entry.size <= _TAIL else numbered[1:]):
        said = spoken(decoded(line)[0]) if line.strip() else None
        if said is not None and said[1].strip():
            text, name = f"{said[0]}: {said[1]}", citation(entry.path, number)
            found.append(Document(name, text, entry.changed_at, entry.changed_at, str(entry.file)))
        if len(found) == TURNS:
            break
    return found
