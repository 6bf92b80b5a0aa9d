"""What the dialogs that read and write files share: their frame, and a file or its changes as lines
of a list.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from textual import work
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.record import Conflict, WorkbenchError
from workbench.core.text import fitting, printable
from workbench.services.files.threeway import NO_LAST_END, DiffKind, DiffLine, split_lines
from workbench.services.open import Workbench
from workbench.tui.app.actions import Action
from workbench.tui.app.private_names import Guarded
from workbench.tui.app.waiting import change
from workbench.tui.widgets.content import BLANK, MUTED, assemble, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_list import LineView

R = TypeVar("R")
Found = TypeVar("Found")

Parts = list[tuple[str, str]]
"""Texts with their styles."""

GUTTER = 7
"""Columns before the text: the sign, the line's number, a space."""

STYLES: dict[DiffKind, str] = {
    "same": MUTED,
    "added": "$text-success",
    "removed": "$text-error",
    "place": "bold $text-accent",
    "note": "$text-warning",
}
SIGNS: dict[DiffKind, str] = {"same": " ", "added": "+", "removed": "−", "place": " ", "note": " "}

Spans = tuple[tuple[int, int], ...]


class FileDialog(Dialog[R]):
    """Fields, a text that says what will happen, and lines; nothing is read in or written before
    that was seen.
    """

    DEFAULT_CSS = """
    FileDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .file--line { height: 1; }
        & .file--label { width: 9; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & ActionText { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & .dialog--state { height: auto; max-height: 10; margin: 1 0; }
        &.-narrow .dialog--state { margin: 0; }
        & LineView { background: $background; }
        & Pane > .line--cursor { background: $background; color: $foreground; }
        & Pane:focus > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    }
    """

    def __init__(self, title: str, offered: Iterable[Action], bench: Workbench) -> None:
        super().__init__(title, offered)
        self.bench = bench
        self.masked = bench.safety.masked

    def say(self, parts: Iterable[tuple[str, str]]) -> None:
        """Say how things stand, without a secret."""
        self.tell(assemble([(self.masked(text), style) for text, style in parts]))

    def complain(self, problem: object) -> None:
        """Say what is wrong."""
        self.say([(f"✗ {printable(str(problem))}", "bold $text-error")])

    def toast(self, sentence: str, severity: str = "information") -> None:
        """Say what was done, or why it was not, where it is seen after this is closed, too."""
        self.app.notify(printable(self.masked(sentence)), severity=severity, markup=False)  # type: ignore[arg-type]


class PreviewDialog(FileDialog[R], Generic[R, Found]):
    """What would be written is worked out on a thread and shown, and only what is shown is written."""

    def __init__(self, title: str, offered: Iterable[Action], bench: Workbench) -> None:
        super().__init__(title, offered, bench)
        self.found: Found | None = None
        self.ready = asyncio.Event()
        """Set while what was found is what was asked for last."""

    def work_out(self, find: Callable[[], Found], shown: Callable[[Found], None]) -> None:
        """Find out what would be written, and have it shown; what is shown stays until then."""
        self.ready.clear()
        self._find(find, shown)

    @work(exclusive=True, group="preview", description="what is written")
    async def _find(self, find: Callable[[], Found], shown: Callable[[Found], None]) -> None:
        self.found = found = await asyncio.to_thread(find)
        shown(found)
        self.ready.set()

    def write(self, step: Callable[[], R], look: Callable[[str], None]) -> None:
        """Write and close; where something was changed meanwhile `look` shows that, with a notice."""

        def write() -> None:
            self.dismiss(step())

        def failed(error: WorkbenchError) -> None:
            if isinstance(error, Conflict):
                look(f"{error.message} The preview is updated.")
            else:
                self.complain(error)

        change(self, write, failed)


def labelled(label: str, *widgets: Widget) -> Horizontal:
    """Return a line with its label."""
    return Horizontal(Static(label, classes="file--label"), *widgets, classes="file--line")


class ActionText(Guarded, Static):
    """A text of a dialog; a click on it is the action that changes it."""

    ALLOW_SELECT = False

    def __init__(self, action: str, *, id: str) -> None:
        super().__init__(BLANK, id=id)
        self._action = action

    async def on_click(self) -> None:
        """Do it."""
        await self.screen.run_action(self._action)


@dataclass(frozen=True, slots=True)
class Piece:
    """As much of a line as fits; `number` is 0 on the further pieces of a line. `spans` mark what
    changed.
    """

    index: int
    kind: DiffKind
    text: str
    number: int = 0
    spans: Spans = ()


class Pane(LineView[Piece]):
    """Numbered lines of a file or of its changes, wrapped to the width there is."""

    def __init__(self, name: str) -> None:
        super().__init__(_draw, lambda piece: piece.index, id=name, empty=body("An empty file."))
        self._lines: Sequence[DiffLine] = ()
        self._wrapped_to = 0
        self._seeks = False
        """Whether the first line that changed is to be in sight, and was not placed yet."""

    def show(self, lines: Sequence[DiffLine], *, changed: bool = False) -> None:
        """Show these lines from the top, or with the first `changed` one of them in sight."""
        self._lines = lines
        self._seeks = changed
        self._wrap(0)

    def on_resize(self) -> None:
        if self._width != self._wrapped_to:
            self._wrap(self.cursor)

    def _wrap(self, cursor: int) -> None:
        self._wrapped_to = self._width
        rows = pieces(self._lines, self._width - 2) if self._width > 0 else []
        if self._seeks and rows:
            self._seeks = False
            cursor = next(
                (at for at, row in enumerate(rows) if row.kind in ("added", "removed")), 0
            )
        self.set_rows(rows, cursor=cursor)
        if cursor:
            self.call_after_refresh(self.scroll_to, y=cursor - 1, animate=False, force=True)


def whole_file(text: str) -> list[DiffLine]:
    """Return a text as numbered lines; says so when the last one has no line end."""
    lines = [
        DiffLine("same", line.removesuffix("\n"), i) for i, line in enumerate(split_lines(text), 1)
    ]
    if text and not text.endswith("\n"):
        lines.append(DiffLine("note", f"({NO_LAST_END})"))
    return lines


def pieces(lines: Sequence[DiffLine], width: int) -> list[Piece]:
    """Wrap lines to `width` cells; white space at the end of a piece stays, nothing is left out."""
    out: list[Piece] = []
    room = max(8, width - GUTTER)
    for line, spans in _with_spans(lines):
        at = 0
        for part in _chopped(printable(line.text), room):
            end = at + len(part)
            inside = tuple(
                (max(s, at) - at, min(e, end) - at) for s, e in spans if s < end and e > at
            )
            out.append(Piece(len(out), line.kind, part, 0 if at else line.number, inside))
            at = end
    return out


def _draw(piece: Piece, width: int) -> Content:  # noqa: ARG001 - the pieces are cut to the width
    """Return a piece as one line: sign, number, text."""
    style = STYLES[piece.kind]
    if piece.kind == "place":
        return assemble([(f"  {piece.text}", style)])
    number = f"{piece.number:>5}" if piece.number else "     "
    text = Content.styled(piece.text, "" if piece.kind == "same" else style)
    for start, end in piece.spans:
        text = text.stylize("bold underline", start, end)
    return assemble([(SIGNS[piece.kind], style), (number, MUTED), (" ", "")]) + text


def _chopped(text: str, room: int) -> Iterator[str]:
    """Yield as much as fits, over and over; after a space where there is one in the second half."""
    at = 0
    while len(text) - at > room or not text.isascii():
        part = text[at : at + room]
        part = part[: fitting(part, room)] or part
        if at + len(part) >= len(text):
            break
        space = part.rfind(" ") + 1
        part = part[:space] if space > len(part) // 2 else part
        yield part
        at += len(part)
    yield text[at:]


def _with_spans(lines: Sequence[DiffLine]) -> Iterator[tuple[DiffLine, Spans]]:
    """Pair each removed line with the added one that takes its place, and mark where the two
    differ.
    """
    marked: dict[int, Spans] = {}
    for index, line in enumerate(lines[:-1]):
        after = lines[index + 1]
        alone = (index == 0 or lines[index - 1].kind != "removed") and (
            index + 2 == len(lines) or lines[index + 2].kind != "added"
        )
        if line.kind == "removed" and after.kind == "added" and alone:
            marked[index], marked[index + 1] = _differing(
                printable(line.text), printable(after.text)
            )
    return ((line, marked.get(i, ())) for i, line in enumerate(lines))


def _differing(old: str, new: str) -> tuple[Spans, Spans]:
    """Return the range of each text that the other one has not, between a common beginning and a
    common end.
    """
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    return ((start, len(old) - end),), ((start, len(new) - end),)
