"""What agents keep in documents: by folder and section with tokens, and the text of the one under the cursor."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, cast

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.agents.document import ROOT, Document, DocumentSection
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.text import one_line
from workbench.core.tokens import tokens_of
from workbench.services.agents.documents.documents import Looks, OpenFolder, Vanished, looks_of
from workbench.services.agents.documents.instructions import LARGEST, DocumentFolder, OpenDocument, read_document
from workbench.services.agents.documents.recall import Recalling
from workbench.services.agents.documents.recall import Row as Recall
from workbench.services.agents.documents.typed import put_back
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.services.open import Workbench
from workbench.tui.agents.actions import DOCUMENTS
from workbench.tui.app import area
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking
from workbench.tui.records.links import linked_pane
from workbench.tui.widgets.content import ADDED, MUTED, REMOVED, body, key_of, keyed
from workbench.tui.widgets.dialog import Choice, Choose, Confirm, Dialog
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.prompt import Prompt

# The rows of documents: folders, what is in them by section with tokens, and what a person has not looked at.


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
    until = "Agents are served it from then on, its secrets masked; a later change is asked about again."
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


# Saving a document that is edited: what goes wrong is said in the editor, and its text stays.


GONE = (
    "{} is gone from the disk. {editor.save} again writes it anew; {dialog.cancel} leaves it gone. "
    "Your text stays here until then."
)
CHANGED = (
    "{} was changed on disk since you opened it. {editor.save} again replaces that "
    "({documents.undo} takes it back); {dialog.cancel} leaves it."
)


class SavingDocument:
    """Writes what was typed over a document; `shown` is its text with the secrets masked, as it is edited.

    A file that is gone, or was changed by somebody else, is written only when it is saved a second time.
    """

    def __init__(self, bench: Workbench, row: Part) -> None:
        assert row.document is not None  # only a document is saved
        self._bench = bench
        self._row = row
        self._opened = row.opened
        self._text = row.document.content
        self._anew = False
        self.shown = bench.safety.masked(self._text)

    def __call__(self, typed: str) -> str | None:
        """Save; return what is wrong, or `None`. Raises `WorkbenchError`."""
        text = put_back(self._text, self.shown, typed)
        if self._opened is None or self._row.within is None:
            self._bench.stored_documents.write(self._row.path, text, self._row.document)
            return None
        try:
            self._bench.documents.edit(self._row.within.folder, self._opened, text, anew=self._anew)
        except Vanished:
            self._anew = True
            return keyed(GONE).format(self._row.path)
        except Conflict:
            self._opened = read_document(self._opened.entry)
            return keyed(CHANGED).format(self._row.path)
        return None

    def at_once(self, typed: str) -> str:
        """Save what an editor elsewhere brought; return why it could not be, else nothing."""
        try:
            return self(typed) or ""
        except WorkbenchError as error:
            return str(error)


# What changed on disk while a list of documents is open: each document's text before that, and what to say.


NOW_CHANGED = "changed just now"

Name = tuple[str, str]
"""The folder of a document, and its path in it."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """What was noticed: the texts that documents had `before`, by their names, and the sentence about the last look."""

    before: dict[Name, str]
    sentence: str = ""

    def compared(self, old: Sequence[Part], new: Sequence[Part], written: Set[Name] = frozenset()) -> "Noticed":
        """Return what is known once another look at the disk found `new` rows where `old` ones were listed.

        What was `written` here in between is no change of somebody else's.
        """
        was, now = _documents(old), _documents(new)
        changed = {name: was[name] for name in now if name in was and now[name] != was[name] and name not in written}
        lists = (
            ("Changed on disk", list(changed)),
            ("New", [name for name in now if name not in was]),
            ("Gone", [name for name in was if name not in now]),
        )
        told = "; ".join(f"{what}: {_listed(names)}" for what, names in lists if names)
        # What it was when the list was opened stays what it is held against.
        before = {name: text for name, text in (changed | self.before).items() if now.get(name, text) != text}
        return Noticed(before, f"{told}." if told else self.sentence)

    def without(self, names: Set[Name]) -> "Noticed":
        """Return it without documents that were written here."""
        return replace(self, before={name: text for name, text in self.before.items() if name not in names})

    def marked(self, rows: Sequence[Part]) -> list[Part]:
        """Return the rows; those of documents that changed say so, and hold their text before that."""
        return [
            replace(row, said=NOW_CHANGED if row.section is None else "", before=self.before[row.folder, row.path])
            if row.document is not None and (row.folder, row.path) in self.before
            else row
            for row in rows
        ]


def _documents(rows: Sequence[Part]) -> dict[Name, str]:
    return {(row.folder, row.path): row.document.content for row in rows if row.document is not None}


def _listed(names: Sequence[Name]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(path for _, path in names[:LISTED])}{more}"


EMPTY = (
    "No documents yet: no session of external memory of this project, no followed folder ({documents.follow} follows "
    "one), and nothing under /memories."
)
LOOKING = "Looking …"
LONGEST = LARGEST
"""Characters of a document that may be written."""

FOUND = 20
"""Places that recall lists."""

EVERY = 2.0
"""Seconds between two looks at the disk while the list is open."""

REST = 50
"""How much longer it waits than a look takes: many documents are looked at more seldom."""


class Opened(Message):
    """A thread has read the documents; `problems` are what could not be.

    `looks` is how they looked on disk before that; `noticed` says that they were read for having changed there, and
    `written` names those that had been saved here before they were read.
    """

    def __init__(
        self, rows: Sequence[Part], problems: Sequence[str], looks: Looks, *, noticed: bool, written: frozenset[Name]
    ) -> None:
        super().__init__()
        self.rows = rows
        self.problems = problems
        self.looks = looks
        self.noticed = noticed
        self.written = written


class Looked(Message):
    """A thread looked at the disk for so many `seconds`, and found that something `changed` there, or nothing."""

    def __init__(self, changed: bool, seconds: float) -> None:
        super().__init__()
        self.changed = changed
        self.seconds = seconds


class DocumentsDialog(Dialog[None]):
    """The documents around a store, and the text of the section under the cursor: looked at, trusted, corrected."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(DOCUMENTS)
    DEFAULT_CSS = """
    DocumentsDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & #documents-body { height: 1fr; }
        & #documents-list { width: 1fr; }
        & #documents-text { width: 1fr; border-left: solid $panel; }
        & #documents-line { height: auto; max-height: 3; color: $text-warning; }
    }
    """

    def __init__(self, bench: Workbench, folder: Path | None = None) -> None:
        super().__init__("Documents of agents", DOCUMENTS)
        self._bench, self._since = bench, bench.library.revision
        self._wanted: tuple[str, str, int] | None = None if folder is None else (str(folder.resolve()), "", 0)
        self._ended = threading.Event()
        self._looks: Looks = {}
        self._noticed = Noticed({})
        self._written = frozenset[Name]()
        self._timer: Timer | None = None
        self.rows: LineView[Part] = LineView(
            self._draw,
            lambda row: row.key,
            is_heading=lambda row: row.document is None,
            empty=Content(LOOKING),
            id="documents-list",
        )

    def contents(self) -> Iterable[Widget]:
        """Return the list, the text, and a line for what could not be read."""
        yield Horizontal(self.rows, linked_pane("documents-text", self._bench, self._path), id="documents-body")
        yield Static(id="documents-line")

    def on_mount(self) -> None:
        self.rows.focus()
        self._read()

    def on_unmount(self) -> None:
        """Look for nothing that nobody waits for."""
        self._ended.set()

    def _path(self) -> tuple[str, ...]:
        """Return where a link is opened from, as the title of what it opens says."""
        row = self.rows.current
        name = "" if row is None else self._bench.safety.masked(row.path or Path(row.folder).name)
        return ("Documents", name) if name else ("Documents",)

    @property
    def _host(self) -> Host:
        return cast(Host, self.app)

    @property
    def _pane(self) -> ReadingPane:
        return self.query_one(ReadingPane)

    # Reading and showing

    @work(thread=True, exclusive=True, group="documents", description="read documents")
    def _read(self, noticed: bool = False) -> None:
        worker, written = get_current_worker(), self._written
        looks = looks_of(self._bench.documents)  # first: what is written while they are read is noticed after that
        rows, problems = rows_of(self._bench)
        if not worker.is_cancelled:
            self.post_message(Opened(rows, problems, looks, noticed=noticed, written=written))

    @on(Opened)
    def _opened(self, event: Opened) -> None:
        if event.noticed:
            self._noticed = self._noticed.compared(self.rows.rows, event.rows, event.written)
        self._noticed = self._noticed.without(event.written)
        self._written -= event.written
        self._looks = event.looks
        self.rows.set_empty(Content(keyed(EMPTY)))
        self.rows.set_rows(self._noticed.marked(event.rows))
        if self._wanted is not None:
            place = next((n for n, row in enumerate(event.rows) if row.key == self._wanted), self.rows.cursor)
            self.rows.cursor, self._wanted = place, None
        self._say("\n".join([*filter(None, [self._noticed.sentence]), *event.problems[:3]]))
        self._show()
        self._wait(EVERY)

    # Following the disk

    def _wait(self, seconds: float) -> None:
        """Look at the disk again after a while."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds, self._look_again)

    def _look_again(self) -> None:
        if self.is_current:
            self._look_at_disk()
        else:
            self._wait(EVERY)

    @work(thread=True, exclusive=True, group="looks", description="look at documents on disk")
    def _look_at_disk(self) -> None:
        worker, begun, known = get_current_worker(), time.thread_time(), self._looks
        changed = looks_of(self._bench.documents) != known
        if not worker.is_cancelled:
            self.post_message(Looked(changed, time.thread_time() - begun))

    @on(Looked)
    def _seen_on_disk(self, event: Looked) -> None:
        if event.changed:
            self._read(noticed=True)
        else:
            self._wait(max(EVERY, REST * event.seconds))

    def _say(self, sentence: str) -> None:
        self.query_one("#documents-line", Static).update(body(self._bench.safety.masked(sentence)))

    @on(LineView.Highlighted, "#documents-list")
    def _show(self) -> None:
        row = self.rows.current
        text = Content("") if row is None else text_of(row, self._bench)
        if text.plain != self._pane.plain:
            self._pane.show(text)

    @on(LineView.Opened, "#documents-list")
    def _into(self) -> None:
        self._pane.focus()

    def action_pane(self) -> None:
        """To the text, and back."""
        (self.rows if self._pane.has_focus else self._pane).focus()

    def _draw(self, row: Part, width: int) -> list[Cell]:  # noqa: ARG002 - as a list asks for its cells
        return draw(row, self._bench.safety.masked)

    # Changing

    @asking
    async def action_edit(self) -> None:
        """Edit the document here; what goes wrong leaves the text in the editor."""
        if (row := self._document()) is not None:
            await self._edit(row, None)

    @asking
    async def action_external(self) -> None:
        """Edit it in the person's own editor; a text that cannot be written is kept in the one here."""
        row = self._document()
        if row is None or row.document is None:
            return
        typed = None
        with self._host.reporting():
            shown = self._bench.safety.masked(row.document.content)
            typed = area.edit(self.app, shown, self._line_of(row))
        if typed is not None:
            await self._edit(row, typed)

    def _line_of(self, row: Part) -> int:
        """Return the line of a document, from 1, that is read or that its section begins with."""
        first = 1 if row.section is None else row.section.line
        return first + (self._pane.line_in_sight if self._pane.has_focus else 0)

    async def _edit(self, row: Part, typed: str | None) -> None:
        from workbench.tui.widgets.texts.editor import TextEditor

        assert row.document is not None  # only a document is edited
        save = SavingDocument(self._bench, row)
        if typed is not None:
            problem = save.at_once(typed)
            if not problem:
                self._saved(row)
                return
            self._host.say(f"{problem} Your text is kept here.", "warning")
        mask, draft = self._bench.safety.masked, self._host.draft(f"documents/{row.folder}/{row.path}")
        editor = TextEditor(
            f"Edit {mask(row.path)}", save.shown, limit=LONGEST, check=save, typed=typed, draft=draft
        )  # fmt: skip
        if await self.app.push_screen_wait(editor) is not None:
            self._saved(row)

    def _saved(self, row: Part) -> None:
        self._written |= {(row.folder, row.path)}
        self._host.say(f"Saved {row.path}. {key_of('documents.undo')} takes it back.")
        self._wanted = row.key
        self._read()

    def _document(self) -> Part | None:
        row = self.rows.current
        if row is None or row.document is None:
            self._host.say("Go to a document first.")
            return None
        return row

    @asking
    async def action_trust(self) -> None:
        """Trust the folder under the cursor, after a question that names what is new in it."""
        row = self.rows.current
        shown = None if row is None else row.within
        if shown is None:
            self._host.say("Go to a folder on disk first; what the store keeps itself is trusted with it.")
        elif shown.changes.are_none:
            self._host.say("Everything in this folder is as you saw it.")
        else:
            mask = self._bench.safety.masked
            detail = question_of(shown, mask)
            ask = Confirm(f"Trust {mask(shown.folder.name)}?", clock=time.monotonic, detail=detail, yes="trust it")
            if await self.app.push_screen_wait(ask):
                with self._host.reporting():
                    await asyncio.to_thread(self._bench.documents.trust, shown)
                    self._host.say(f"Trusted: {shown.folder.name}, as it was shown.")
                self._read()

    @asking
    async def action_follow(self) -> None:
        """Follow a folder that is named."""
        found: list[DocumentFolder] = []

        def follow(name: str) -> None:
            found.append(self._bench.documents.follow(named(name)))

        ask = Prompt("Follow a folder of documents", placeholder="a folder of notes, or a session", take=follow)
        if await self.app.push_screen_wait(ask) and found:
            self._wanted = (str(found[0].root), "", 0)
            self._read()

    @asking
    async def action_undo(self) -> None:
        """Take the latest change back; a file that somebody else changed since is left as it is."""

        def told(undone: str) -> None:
            self._host.say(undone)
            self._read()

        await self._host.take_back(told, self._since)

    # Finding

    @asking
    async def action_recall(self) -> None:
        """Ask what is looked for, and go to the place that is chosen of those found."""
        query = await self.app.push_screen_wait(Prompt("Recall from documents and messages", placeholder="words"))
        if not query:
            return
        self._say(LOOKING)
        rows: Sequence[Recall] = ()
        with self._host.reporting():
            rows = await asyncio.to_thread(self._look, query)
        self._say("" if rows else f"Nothing in documents or messages says “{query}”.")
        if not rows or not self.is_attached:
            return
        choices = [Choice(str(n), f"{row.citation}  {one_line(row.text, 200)}") for n, row in enumerate(rows)]
        chosen = await self.app.push_screen_wait(Choose(f"{len(rows)} places, the best first", choices))
        if chosen is not None:
            self._go_to(rows[int(chosen)])

    def _look(self, query: str) -> Sequence[Recall]:
        bench = self._bench
        recalling = Recalling(bench.context, lambda: bench.tuning, bench.safety)
        return recalling.look(query, limit=FOUND, every=True, cancelled=self._ended.is_set).rows

    def _go_to(self, found: Recall) -> None:
        """Open the place of a hit: its section at its line, or the message around it."""
        hit = found.hit
        if hit is None or hit.source == "messages":
            whole = self._bench.safety.masked(hit.whole) if hit is not None else found.text
            head = body(f"{found.citation} · {found.speaker}", MUTED)
            self._pane.show(Content("\n").join([head, Content(""), body(whole)]))
            self._pane.focus()
            return
        folder = ROOT if hit.folder is None else str(hit.folder.root)
        there = [
            n for n, row in enumerate(self.rows.rows)
            if (row.folder, row.path) == (folder, hit.file_path) and row.key[2] <= max(1, hit.line_number)
        ]  # fmt: skip
        if not there:
            self._say(f"{found.citation} is not among the documents any more.")
            return
        self.rows.cursor = there[-1]
        row = self.rows.rows[there[-1]]
        text = text_of(row, self._bench)
        before = hit.line_number - max(1, row.key[2])
        self._pane.show(text)
        self._pane.focus()
        self.call_after_refresh(self._pane.go_to_line, before)


def named(name: str) -> Path:
    """Return the folder that is named; raises `WorkbenchError` where its home is not known."""
    try:
        return Path.cwd() / Path(name).expanduser()
    except RuntimeError as error:
        raise WorkbenchError(f"{name} names an unknown home folder.", "Nothing was changed.") from error
