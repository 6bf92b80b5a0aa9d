"""The rows of documents: folders, what is in them by section with tokens, and what a person has not looked at."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from textual.content import Content

from workbench.core.agents.document import ROOT, Document, DocumentSection
from workbench.core.record import WorkbenchError
from workbench.core.tokens import tokens_of
from workbench.services.agents.documents.documents import OpenFolder
from workbench.services.agents.documents.instructions import OpenDocument
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.services.open import Workbench
from workbench.tui.widgets.content import ADDED, MUTED, REMOVED, body
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.row import Cell

_TOKENS = 9
_STYLES = {"added": ADDED, "removed": REMOVED, "place": MUTED, "note": MUTED}
SINCE_SEEN = "Changed on disk since you looked at it:"
JUST_NOW = "Changed on disk while this list is open:"
LISTED = 8
"""Documents that a question names, and problems that are told."""


@dataclass(frozen=True, slots=True)
class Part:
    """A row: a folder, a document of it, or one of its sections; `said` is what stands beside its name.

    `within` and `opened` are the folder and the document as they were read from disk; the store's own have none.
    `before` is the document's text when the list was opened, where it changed since.
    """

    folder: str
    path: str = ""
    title: str = ""
    tokens: int = 0
    said: str = ""
    section: DocumentSection | None = None
    document: Document | None = None
    within: OpenFolder | None = None
    opened: OpenDocument | None = None
    before: str | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """What the row is known by when the rows are replaced."""
        return (self.folder, self.path, self.section.line if self.section is not None else 0)


def rows_of(bench: Workbench) -> tuple[list[Part], list[str]]:
    """Return a row for each folder, document and section, and what could not be read; on any thread."""
    rows, problems = list[Part](), list[str]()
    documents = bench.documents
    for path in dict.fromkeys((*documents.sessions(), *documents.followed())):
        try:
            opened = documents.opened(path)
        except WorkbenchError as error:
            problems.append(str(error))
            continue
        rows += _folder(opened)
        problems += [reason for _, reason in opened.unread]
    instructions = documents.instructions()
    if instructions is not None:
        head, *rest = _folder(instructions)
        rows += [replace(head, said=f"{head.said} · loaded whole by agents"), *rest]
    own = documents.stored()
    if own:
        total = sum(tokens_of(one.content) for one in own)
        rows.append(Part(ROOT, said=f"{number(total)} tokens"))
        for document in own:
            rows += _parts(Part(ROOT, document.path, document=document))
    return rows, problems


def draw(row: Part, mask: Callable[[str], str]) -> list[Cell]:
    if row.document is None:
        return [Cell(mask(Path(row.folder).name), 0, "bold"), Cell(row.said, len(row.said), MUTED)]
    if row.section is None:
        name = Cell(mask(row.path) + (f" · {row.said}" if row.said else ""), 0, "$text-accent")
    else:
        name = Cell("· " * max(1, row.section.level) + mask(row.section.title or "(no heading)"), 0)
    return [name, Cell(number(row.tokens), _TOKENS, MUTED, "right")]


def text_of(row: Part, bench: Workbench) -> Content:
    """Return the text of a document or of its section; of one that changed since it was looked at, how, first."""
    mask = bench.safety.masked
    if row.document is None:
        return body(mask(f"{row.folder}\n{row.said}"), MUTED)
    text = mask(row.document.content)
    if row.section is not None:
        return body("\n".join(text.split("\n")[row.section.line - 1 : row.section.end]))
    if row.before is not None:
        return _after(JUST_NOW, diff_texts(mask(row.before), text), text)
    if row.said != "changed" or row.within is None or row.opened is None:
        return body(text)
    return _after(SINCE_SEEN, bench.documents.seen(row.within.folder).difference(row.opened), text)


def _after(head: str, lines: Iterable[DiffLine], text: str) -> Content:
    """Return a text below what changed in it."""
    return Content("\n").join([Content.styled(head, "bold $text-warning"), *map(_line, lines), Content(""), body(text)])


def question_of(shown: OpenFolder, mask: Callable[[str], str]) -> Content:
    """Return what is not as a person saw it in a folder, for the question whether it is trusted."""
    changes = shown.changes
    lines = []
    for name, paths in (("new", changes.new), ("changed", changes.changed), ("gone", changes.gone)):
        if paths:
            more = f" and {number(len(paths) - LISTED)} more" if len(paths) > LISTED else ""
            lines.append(body(f"{name}: {mask(', '.join(paths[:LISTED]))}{more}"))
    if changes.messages:
        lines.append(body(f"messages: {number(changes.messages)} bytes nobody looked at"))
    held = "The texts are in the list: look at them first. What gives orders or hides characters stays held back."
    until = "Agents are given it from then on, its secrets masked; a later change is asked about again."
    return Content("\n").join([*lines, body(held), Content.styled(until, MUTED)])


def _folder(opened: OpenFolder) -> list[Part]:
    changes, folder = opened.changes, str(opened.folder.root)
    total = sum(tokens_of(one.document.content) for one in opened.documents)
    seen = "" if changes.are_none else " · not looked at"
    rows = [Part(folder, said=f"{number(total)} tokens{seen}", within=opened)]
    for one in opened.documents:
        path = one.entry.path
        said = "new" if path in changes.new else "changed" if path in changes.changed else ""
        rows += _parts(Part(folder, path, said=said, document=one.document, within=opened, opened=one))
    return rows


def _parts(whole: Part) -> list[Part]:
    """Return the row of a document, and those of its sections where it has several."""
    document = whole.document
    assert document is not None  # the row is one of a document
    whole = replace(whole, tokens=tokens_of(document.content))
    sections = document.sections
    if len(sections) < 2:
        return [whole]
    return [whole, *(replace(whole, title=s.title, tokens=s.tokens, said="", section=s) for s in sections)]


def _line(line: DiffLine) -> Content:
    return body(str(line), _STYLES.get(line.kind, ""))
