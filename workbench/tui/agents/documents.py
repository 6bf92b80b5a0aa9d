"""What agents keep in documents: by folder and section with tokens, and the text of the one under
the cursor.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from textual import work
from textual.content import Content
from textual.timer import Timer

from workbench.core.agents.document import ROOT, Document, DocumentSection
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.text import one_line
from workbench.core.tokens import tokens_of
from workbench.services.agents.documents.documents import (
    Looks,
    OpenFolder,
    Vanished,
    looks_of,
    put_back,
)
from workbench.services.agents.documents.instructions import (
    LARGEST,
    DocumentFolder,
    OpenDocument,
    read_document,
)
from workbench.services.agents.documents.recall import Hit, Recalling
from workbench.services.files.threeway import DiffLine, diff_texts
from workbench.services.open import Workbench
from workbench.tui.actions import DOCUMENTS
from workbench.tui.agents.browse import Browse
from workbench.tui.app import area
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import asking
from workbench.tui.widgets.content import ADDED, BLANK, MUTED, REMOVED, body, joined, key_of, keyed
from workbench.tui.widgets.dialog import Choice, Choose, Prompt, sure
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.line_list import Cell

# The rows of documents: folders, what is in them by section with tokens, and what a person has not
# looked at.


_STYLES = {"added": ADDED, "removed": REMOVED, "place": MUTED, "note": MUTED}
LISTED = 8
"""Documents that a question names, and problems that are told."""


@dataclass(frozen=True, slots=True)
class Part:
    """A row: a folder, a document of it, or one of its sections; `said` is what stands beside its
    name.

    `within` and `opened` are the folder and the document as they were read from disk; the store's
    own have none. `before` is the document's text when the list was opened, where it changed since.
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
    """Return a row for each folder, document and section, and what could not be read; on any
    thread.
    """
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


def text_of(row: Part, bench: Workbench) -> Content:
    """Return the text of a document or of its section; of one that changed since it was looked at,
    how, first.
    """
    mask = bench.safety.masked
    if row.document is None:
        return body(mask(f"{row.folder}\n{row.said}"), MUTED)
    text = mask(row.document.content)
    if row.section is not None:
        return body("\n".join(text.split("\n")[row.section.line - 1 : row.section.end]))
    if row.before is not None:
        return _after(
            "Changed on disk while this list is open:", diff_texts(mask(row.before), text), text
        )
    if row.said != "changed" or row.within is None or row.opened is None:
        return body(text)
    return _after(
        "Changed on disk since you reviewed it:",
        bench.documents.seen(row.within.folder).difference(row.opened),
        text,
    )


def _after(head: str, lines: Iterable[DiffLine], text: str) -> Content:
    """Return a text below what changed in it."""
    return joined(Content.styled(head, "bold $text-warning"), *map(_line, lines), BLANK, body(text))


def _folder(opened: OpenFolder) -> list[Part]:
    changes, folder = opened.changes, str(opened.folder.root)
    total = sum(tokens_of(one.document.content) for one in opened.documents)
    seen = "" if changes.are_none else " · not reviewed"
    rows = [Part(folder, said=f"{number(total)} tokens{seen}", within=opened)]
    for one in opened.documents:
        path = one.entry.path
        said = "new" if path in changes.new else "changed" if path in changes.changed else ""
        rows += _parts(
            Part(folder, path, said=said, document=one.document, within=opened, opened=one)
        )
    return rows


def _parts(whole: Part) -> list[Part]:
    """Return the row of a document, and those of its sections where it has several."""
    document = whole.document
    assert document is not None  # the row is one of a document
    whole = replace(whole, tokens=tokens_of(document.content))
    sections = document.sections
    if len(sections) < 2:
        return [whole]
    return [
        whole,
        *(replace(whole, title=s.title, tokens=s.tokens, said="", section=s) for s in sections),
    ]


def _line(line: DiffLine) -> Content:
    return body(str(line), _STYLES.get(line.kind, ""))


GONE = (
    "{} was deleted from disk. {editor.save} again recreates it; {dialog.cancel} leaves it deleted. "
    "Your text is kept until then."
)
CHANGED = (
    "{} was changed on disk since you opened it. {editor.save} again replaces that "
    "({documents.undo} takes it back); {dialog.cancel} leaves it."
)


HELD = """Read the texts in the list first. Text with orders to agents or hidden characters stays held back.
From then on agents are served it with secrets masked; later changes need a new review."""

FOUND = 20
"""Places that recall lists."""

NOW_CHANGED = "changed just now"

Name = tuple[str, str]
"""The folder of a document, and its path in it."""

EVERY = 2.0
"""Seconds between two looks at the disk while the list is open."""

REST = 50
"""How much longer it waits than a look takes: many documents are looked at more seldom."""


class DocumentsDialog(Browse[None, Part]):
    """The documents around a store, and the text of the section under the cursor: looked at,
    trusted, corrected.
    """

    BINDINGS = bindings(DOCUMENTS)
    EMPTY = (
        "No documents yet: no session of external memory of this project, no followed folder ({documents.follow} "
        "follows one), and nothing under /memories."
    )

    def __init__(self, bench: Workbench, folder: Path | None = None) -> None:
        super().__init__("Documents", bench, DOCUMENTS)
        self._wanted = None if folder is None else (str(folder.resolve()), "", 0)
        self._looks: Looks = {}
        self._noticed = False
        self._before: dict[Name, str] = {}
        self._sentence = ""
        self._written = frozenset[Name]()
        self._timer: Timer | None = None

    def key_of(self, row: Part) -> tuple[str, str, int]:
        return row.key

    def is_heading(self, row: Part) -> bool:
        return row.document is None

    def named(self, row: Part) -> str:
        return row.path or Path(row.folder).name

    def draw(self, row: Part, width: int) -> Sequence[Cell]:
        del width
        if row.document is None:
            return [Cell(Path(row.folder).name, 0, "bold"), Cell(row.said, len(row.said), MUTED)]
        if row.section is None:
            name = Cell(row.path + (f" · {row.said}" if row.said else ""), 0, "$text-accent")
        else:
            name = Cell("· " * max(1, row.section.level) + (row.section.title or "(no heading)"), 0)
        return [
            replace(name, name="document"),
            Cell(number(row.tokens), 9, MUTED, "right", "tokens"),
        ]

    def text_of(self, row: Part) -> Content:
        return text_of(row, self.bench)

    # Reading, and following the disk

    def gather(self) -> Callable[[], object]:
        written, noticed, self._noticed = self._written, self._noticed, False
        looks = looks_of(
            self.bench.documents
        )  # first: what is written while they are read is noticed after that
        rows, problems = rows_of(self.bench)

        def opened() -> None:
            if noticed:
                self._compare(_documents(self.rows.rows), _documents(rows), written)
            self._before = {
                name: text for name, text in self._before.items() if name not in written
            }
            self._written -= written
            self._looks = looks
            self.listed([self._marked(row) for row in rows])
            if self._wanted is not None:
                self.rows.cursor = next(
                    (n for n, row in enumerate(rows) if row.key == self._wanted), self.rows.cursor
                )
                self._wanted = None
            self.say("\n".join([*filter(None, [self._sentence]), *problems[:3]]))
            self._wait(EVERY)

        return opened

    def _compare(
        self, was: Mapping[Name, str], now: Mapping[Name, str], written: Set[Name]
    ) -> None:
        """Note what changed on disk, with what it said when the list was opened; not what was
        written here.
        """
        changed = {
            name: was[name]
            for name in now
            if name in was and now[name] != was[name] and name not in written
        }
        lists = (
            ("Changed on disk", list(changed)),
            ("New", [name for name in now if name not in was]),
            ("Gone", [name for name in was if name not in now]),
        )
        told = "; ".join(
            f"{what}: {_listed([path for _, path in names])}" for what, names in lists if names
        )
        self._sentence = f"{told}." if told else self._sentence
        self._before = {
            n: text for n, text in (changed | self._before).items() if now.get(n, text) != text
        }

    def _marked(self, row: Part) -> Part:
        """Return a row; that of a document that changed says so, and holds its text before that."""
        before = self._before.get((row.folder, row.path)) if row.document is not None else None
        return (
            row
            if before is None
            else replace(row, said="" if row.section else NOW_CHANGED, before=before)
        )

    def _wait(self, seconds: float) -> None:
        """Look at the disk again after a while."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds, self._look_again)

    @work(exclusive=True, group="looks", description="review documents on disk")
    async def _look_again(self) -> None:
        if not self.is_current:
            self._wait(EVERY)
            return

        def look() -> tuple[Looks, float]:
            begun = time.thread_time()
            return looks_of(self.bench.documents), time.thread_time() - begun

        found = await self.away(look)
        if found is None or found[0] == self._looks:
            self._wait(max(EVERY, REST * (found[1] if found else 0)))
        else:
            self._noticed = True
            self.read()

    # Changing

    @asking
    async def action_edit(self) -> None:
        """Edit the document here; what goes wrong leaves the text in the editor."""
        if (row := self._document()) is not None:
            await self._edit(row)

    @asking
    async def action_external(self) -> None:
        """Edit it in the person's own editor; a text that cannot be written is kept in the one
        here.
        """
        if (row := self._document()) is None or row.document is None:
            return
        first = (
            1 if row.section is None else row.section.line
        ) + self.pane.line_in_sight * self.pane.has_focus
        typed = None
        with self.host.reporting():
            typed = area.edit(self.app, self.bench.safety.masked(row.document.content), first)
        if typed is not None:
            await self._edit(row, typed)

    async def _edit(self, row: Part, typed: str | None = None) -> None:
        """Edit a document. A file that is gone, or changed meanwhile, is written when it is saved a
        second time.
        """
        from workbench.tui.widgets.editor import TextEditor

        assert row.document is not None  # only a document is edited
        document, opened, anew = row.document, row.opened, False
        mask, draft = (
            self.bench.safety.masked,
            self.host.draft(f"documents/{row.folder}/{row.path}"),
        )
        shown = mask(document.content)

        def save(text: str) -> str | None:
            nonlocal opened, anew
            new = put_back(document.content, shown, text)
            if opened is None or row.within is None:
                self.bench.stored_documents.write(row.path, new, document)
                return None
            try:
                self.bench.documents.edit(row.within.folder, opened, new, anew=anew)
            except Vanished:
                anew = True
                return keyed(GONE).format(row.path)
            except Conflict:
                opened = read_document(opened.entry)
                return keyed(CHANGED).format(row.path)
            return None

        problem: str | None = "" if typed is None else None
        if typed is not None:
            try:
                problem = save(typed)
            except WorkbenchError as error:
                problem = str(error)
            if problem:
                self.host.say(f"{problem} Your text is kept here.", "warning")
        if problem is not None:
            editor = TextEditor(
                f"Edit {mask(row.path)}", shown, limit=LARGEST, check=save, typed=typed, draft=draft
            )
            if await self.app.push_screen_wait(editor) is None:
                return
        self._written |= {(row.folder, row.path)}
        self.host.say(f"Saved {row.path}. {key_of('documents.undo')} takes it back.")
        self._wanted = row.key
        self.read()

    def _document(self) -> Part | None:
        row = self.rows.current
        if row is None or row.document is None:
            self.host.say("Go to a document first.")
            return None
        return row

    @asking
    async def action_trust(self) -> None:
        """Trust the folder under the cursor, after a question that names what is new in it."""
        row = self.rows.current
        shown = None if row is None else row.within
        if shown is None:
            self.host.say(
                "Go to a folder on disk first; the store's own documents are trusted with it."
            )
        elif shown.changes.are_none:
            self.host.say("Nothing in this folder changed since you reviewed it.")
        else:
            mask, changes = self.bench.safety.masked, shown.changes
            lists = (("new", changes.new), ("changed", changes.changed), ("gone", changes.gone))
            lines = [f"{name}: {mask(_listed(paths))}" for name, paths in lists if paths]
            lines += (
                [f"messages: {number(changes.messages)} bytes not reviewed"]
                if changes.messages
                else []
            )
            detail = "\n".join([*lines, HELD])
            if await sure(self, f"Trust {mask(shown.folder.name)}?", detail, "trust it"):
                with self.host.reporting():
                    await asyncio.to_thread(self.bench.documents.trust, shown)
                    self.host.say(f"Trusted: {shown.folder.name}, as shown.")
                self.read()

    @asking
    async def action_follow(self) -> None:
        """Follow a folder that is named."""
        found: list[DocumentFolder] = []

        def follow(name: str) -> None:
            found.append(self.bench.documents.follow(named(name)))

        ask = Prompt(
            "Follow a folder of documents",
            placeholder="a folder of notes, or a session",
            take=follow,
        )
        if await self.app.push_screen_wait(ask) and found:
            self._wanted = (str(found[0].root), "", 0)
            self.read()

    # Finding

    @asking
    async def action_recall(self) -> None:
        """Ask what is looked for, and go to the place that is chosen of those found."""
        query = await self.app.push_screen_wait(
            Prompt("Recall from documents and messages", placeholder="words")
        )
        if not query:
            return
        self.say("Looking …")
        recalling = Recalling(self.bench.context, lambda: self.bench.tuning, self.bench.safety)
        rows: Sequence[Hit] | None = await self.away(
            lambda: recalling.look(query, limit=FOUND, every=True).rows
        )
        if rows is None:
            return
        self.say("" if rows else f"Nothing in documents or messages matches “{query}”.")
        if not rows or not self.is_attached:
            return
        choices = [
            Choice(str(n), f"{row.citation}  {one_line(row.text, 200)}")
            for n, row in enumerate(rows)
        ]
        chosen = await self.app.push_screen_wait(Choose(f"{len(rows)} places, best first", choices))
        if chosen is not None:
            self._go_to(rows[int(chosen)])

    def _go_to(self, hit: Hit) -> None:
        """Open the place of a hit: its section at its line, or the message around it."""
        if hit.source == "messages":
            head = body(f"{hit.citation} · {hit.speaker}", MUTED)
            self.pane.show(joined(head, BLANK, body(hit.whole)))
            self.pane.focus()
            return
        folder = ROOT if hit.folder is None else str(hit.folder.root)
        there = [
            n for n, row in enumerate(self.rows.rows)
            if (row.folder, row.path) == (folder, hit.file_path) and row.key[2] <= max(1, hit.line_number)
        ]  # fmt: skip
        if not there:
            self.say(f"{hit.citation} is no longer among the documents.")
            return
        self.rows.cursor = there[-1]
        row = self.rows.rows[there[-1]]
        text = text_of(row, self.bench)
        before = hit.line_number - max(1, row.key[2])
        self.pane.show(text)
        self.pane.focus()
        self.call_after_refresh(self.pane.go_to_line, before)


def named(name: str) -> Path:
    """Return the folder that is named; raises `WorkbenchError` where its home is not known."""
    try:
        return Path.cwd() / Path(name).expanduser()
    except RuntimeError as error:
        raise WorkbenchError(
            f"{name} names an unknown home folder.", "Nothing was changed."
        ) from error


def _documents(rows: Sequence[Part]) -> dict[Name, str]:
    return {
        (row.folder, row.path): row.document.content for row in rows if row.document is not None
    }


def _listed(paths: Sequence[str]) -> str:
    more = f" and {number(len(paths) - LISTED)} more" if len(paths) > LISTED else ""
    return f"{', '.join(paths[:LISTED])}{more}"
