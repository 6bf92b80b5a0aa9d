"""Exporting a playbook: the exact bytes and what they change are shown first; ctrl+s writes what
was shown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from textual import events, on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.files.format import Format
from workbench.core.playbook.book import Dialect
from workbench.core.record import WorkbenchError
from workbench.core.text import one_line, printable
from workbench.services.files.exporting import Choice as Wanted
from workbench.services.files.exporting import ExportPreview, Rendered, Written, parts_of
from workbench.services.files.overwriting import Obstacle, loss_said, why_said
from workbench.services.files.threeway import DiffLine, ThreeWay, masked_diff
from workbench.services.open import Workbench
from workbench.services.safety.safety import Outgoing
from workbench.tui.actions import EXPORT
from workbench.tui.app.actions import bindings, footer_entries, sentence
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking
from workbench.tui.files.preview import ActionText, Pane, Parts, PreviewDialog, labelled, whole_file
from workbench.tui.safety import FLAGGED, missing
from workbench.tui.widgets.content import MUTED, assemble, key_of, muted
from workbench.tui.widgets.dialog import Choice, Choose, Prompt, SafeInput, sure
from workbench.tui.widgets.figures import amount, number

LISTED = 3
"""Flagged records that are named in the dialog."""

BOTH = 130
"""Columns from which changes and whole file stand side by side."""

DIALECTS: tuple[tuple[Dialect | None, str], ...] = (
    (None, "as it is"),
    ("counts", "counts"),
    ("bare", "bare"),
)

WHO = {
    "ours": "changed here",
    "theirs": "changed by others",
    "both": "changed by both in the same way",
    "conflict": "changed by both differently: - before, + here, > others",
}


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be written where, and what there is to see of it.

    Without a `preview` nothing can be written, and `problem` says why. `whole` and `changes` are
    the lines of the two panes, `masks` those with secrets, with what is shown in their place.
    """

    format: str
    choice: Wanted | None = None
    path: Path | None = None
    problem: str = ""
    rendered: Rendered | None = None
    outgoing: Outgoing = field(default_factory=lambda: Outgoing((), (), ()))
    preview: ExportPreview | None = None
    whole: Sequence[DiffLine] = ()
    changes: Sequence[DiffLine] = ()
    masks: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What would be written: with the changes of somebody else where they do not collide with
        ours.
        """
        own = self.rendered.text if self.rendered else ""
        return (self.preview.merged or own) if self.preview else own


class ExportDialog(PreviewDialog[Written | None, Look]):
    """Choose file, format and part, look at the text, write it; the result is what was written.

    `copy` puts a text on the clipboard and says how. It opens on the file that was written `last`,
    else on the one that the playbook came from.
    """

    BINDINGS = bindings(EXPORT)
    DEFAULT_CSS = """
    ExportDialog {
        & > .dialog { max-width: 100%; }
        & #export-least { width: 8; }
        & #export-at-least { width: 22; padding-left: 2; color: $text-muted; }
        & #export-panes { height: 1fr; }
        & LineView { width: 1fr; }
        & #export-whole { display: none; }
        &.-whole #export-whole, &.-new #export-whole { display: block; }
        &.-whole #export-changes, &.-new #export-changes { display: none; }
        &.-both #export-whole, &.-both #export-changes { display: block; }
        &.-both #export-whole { border-left: solid $panel; }
    }
    """

    def __init__(
        self, bench: Workbench, book: str, copy: Callable[[str], None], last: Written | None = None
    ) -> None:
        name = bench.library.books.get(book).name
        super().__init__(f"Export {bench.safety.masked(name)}", footer_entries(EXPORT), bench)
        self._exporter = bench.exporter
        self._book = book
        self._format = self._exporter.format_of(book) if last is None else last.format
        target = self._exporter.target(book, self._format) if last is None else last.path
        self._path = SafeInput(str(target), placeholder="file to write", id="export-path")
        self._section = SafeInput(
            placeholder="all sections; type part of a name to narrow", id="export-section"
        )
        self._least = SafeInput(placeholder="0", id="export-least")
        self._changes, self._whole = Pane("export-changes"), Pane("export-whole")
        self._chosen = 0
        self._within = False
        self._copy = copy
        self._asked = 0
        """How often something else was asked for."""
        self._notice: Parts = []
        self._opened = False

    def contents(self) -> Iterable[Widget]:
        """Return the file, the format, which part of the playbook, what will happen, and the two
        views.
        """
        self.add_class(
            "-new", update=False
        )  # nothing was compared yet; said later, all would be styled anew
        yield labelled("file", self._path)
        yield labelled("format", ActionText("format", id="export-format"))
        yield labelled("variant", ActionText("dialect", id="export-dialect"))
        yield labelled(
            "section", self._section, Static("helpful at least", id="export-at-least"), self._least
        )
        yield self.state
        yield Horizontal(self._changes, self._whole, id="export-panes")

    def on_mount(self) -> None:
        """Look at the file as it is now."""
        self._path.focus()
        self.state.update(muted("Looking …"))
        self._look()

    def on_resize(self, event: events.Resize) -> None:
        """Show both views where there is room."""
        self._arrange(event.size.width)

    def _arrange(self, width: int) -> None:
        """Show changes and whole file side by side, or one of them; the whole file when nothing is
        replaced.
        """
        changes = self.found is not None and bool(self.found.changes)
        self.set_class(not changes, "-new")
        self.set_class(changes and width >= BOTH, "-both")

    # Choosing

    @on(Input.Changed)
    def _typed(self) -> None:
        self._look()

    @on(Input.Submitted)
    def _to_preview(self) -> None:
        """Go on to the next field; where the file may be written, say which key does that."""
        self.focus_next()
        preview = self._may_go()
        if preview is not None and preview.changed and preview.obstacle is None:
            self._notice = [(f"{key_of('export.write')} writes the file as shown. ", "bold")]
            self._show()

    @property
    def _has_dialects(self) -> bool:
        return self._exporter.kind(self._format).dialects is not None

    def action_dialect(self) -> None:
        if self._has_dialects:
            self._chosen = (self._chosen + 1) % len(DIALECTS)
            self._look()

    def action_budget(self) -> None:
        """Take of the playbook what its token budget keeps, or all of it."""
        self._within = not self._within
        self._look()

    @asking
    async def action_format(self) -> None:
        """Choose another format; the file's name follows it."""
        kinds = [kind for kind in self._exporter.outlets if kind.holds in ("playbook", "either")]
        choices = [Choice(k.name, k.title, _how_written(k)) for k in kinds]
        chosen = await self.app.push_screen_wait(
            Choose("Format of the file", choices, self._format)
        )
        if chosen is None or chosen == self._format:
            return
        self._format, self._chosen = chosen, 0
        with self._path.prevent(Input.Changed):
            self._path.value = str(self._exporter.target(self._book, chosen))
        self._look()

    def action_view(self) -> None:
        """Change between what changes and the whole file."""
        self.toggle_class("-whole")

    def action_copy(self) -> None:
        """Copy the text as it would be written, unless a part of it is held back."""
        found = self._current
        if found is None or found.rendered is None or found.outgoing.refused:
            self.app.bell()
        else:
            self._copy(found.rendered.text)

    # Looking

    def _look(self, notice: str = "") -> None:
        """Have the text made and compared with the file."""
        self._notice = [(f"✗ {printable(notice)} ", "bold $text-error")] if notice else []
        self._asked += 1
        marks = (
            ("● ", "bold $text-accent") if n == self._chosen else ("  ", MUTED)
            for n in range(len(DIALECTS))
        )
        dialects = [
            (f"{mark}{name}   ", style)
            for (mark, style), (_, name) in zip(marks, DIALECTS, strict=True)
        ]
        variant = self.query_one("#export-dialect", ActionText)
        variant.update(assemble(dialects))
        variant.display = self._has_dialects
        kind, key = self._exporter.kind(self._format).title, key_of("export.format")
        title = [(kind, "bold"), ("   ", ""), (key, "bold $text-accent"), (" another one", MUTED)]
        self.query_one("#export-format", ActionText).update(assemble(title))
        self.work_out(partial(look, self.bench, self._wanted()), lambda _: self._show())

    def _wanted(self) -> Look:
        least = self._least.value.strip()
        asked = Look(self._format)
        if least and not (least.isascii() and least.isdigit()):
            asked = replace(asked, problem=f"“{least}” is not a number. Nothing was written.")
        else:
            dialect = DIALECTS[self._chosen][0] if self._has_dialects else None
            section, at_least = self._section.value.strip(), int(least) if least else None
            wanted = Wanted(
                self._book, section, at_least, dialect=dialect, within_budget=self._within
            )
            asked = replace(asked, choice=wanted)
        try:
            return replace(asked, path=self._path.path_to_write())
        except WorkbenchError as error:
            return replace(asked, problem=asked.problem or str(error))

    @property
    def _current(self) -> Look | None:
        """What is shown, unless something else was asked for since."""
        return self.found if self.ready.is_set() else None

    def _show(self) -> None:
        """Say what will happen, and show the text and its changes, without their secrets until a
        person opens them.
        """
        found = self.found
        if found is None:
            return
        self.state.update(assemble([*self._notice, *_state(found), *self._remarks(found)]))
        masks = (
            {}
            if self._opened
            else {**found.masks, **{f"> {old}": f"> {new}" for old, new in found.masks.items()}}
        )
        self._whole.show(masked_diff(found.whole, masks))
        self._changes.show(masked_diff(found.changes, masks))
        self._arrange(self.size.width)

    def action_unfold(self) -> None:
        """Show the secrets, or mask them again."""
        self._opened = not self._opened
        self._show()

    def _remarks(self, found: Look) -> Parts:
        said = found.rendered.remarks if found.rendered else ()
        remarks = [(f"\n! {printable(remark)}", "$text-warning") for remark in said]
        if found.masks and not self._opened:
            lines = amount(len(found.masks), "line holds", "lines hold")
            remarks += [(f"\n! {lines} a secret, masked here only; ", "$text-warning"),
                        (key_of("export.unfold"), "bold $text-accent"), (" in the text shows it.", MUTED)]  # fmt: skip
        return remarks + _guarded(found.outgoing)

    @asking
    async def action_allow(self) -> None:
        """Let what is flagged out, after asking why; undo takes it back."""
        found = self._current
        if found is None or not found.outgoing.refused:
            self.app.bell()
            return
        preview, ids = (
            Preview(self.bench, again="enter", line=True),
            [held.id for held in found.outgoing.refused],
        )

        def allow(_: str) -> None:
            with preview.writing("allow an export"):
                self.bench.safety.allow_all(ids, preview.text)

        ask = Prompt(
            "Allow the export: reason",
            placeholder="a reason",
            check=missing,
            take=allow,
            preview=preview,
        )
        if await self.app.push_screen_wait(ask):
            self._look()

    # Writing

    def _may_go(self) -> ExportPreview | None:
        """Return what is shown if nothing of it is held back."""
        found = self._current
        return None if found is None or found.outgoing.refused else found.preview

    @asking
    async def action_write(self) -> None:
        """Write what is shown; what goes wrong is said here and loses nothing.

        Pressed before that is shown, it is written as soon as it is, unless something else is asked
        for until then.
        """
        asked = self._asked
        await self.ready.wait()
        preview = self._may_go() if asked == self._asked else None
        if preview is None or not preview.changed:
            self.app.bell()
        elif preview.obstacle is None:
            self.write(lambda: self._exporter.write(preview), self._look)
        elif preview.merged not in (None, preview.present):
            self.write(lambda: self._exporter.write_merged(preview), self._look)
        else:
            self.app.bell()

    @asking
    async def action_replace(self) -> None:
        """Write the text of this store over what it cannot write back, after a yes."""
        preview = self._may_go()
        if preview is None or preview.obstacle is None:
            self.app.bell()
            return
        question = f"Replace {preview.path.name}? {sentence(loss_said(preview.obstacle))}."
        kept = "A copy is kept in your state folder; its name is shown afterwards."
        if await sure(self, question, kept, "replace"):
            self.write(lambda: self._exporter.write(preview, force=True), self._look)


# What there is to see of an export; made on a thread, as large playbooks and files take a while.


def look(bench: Workbench, asked: Look) -> Look:
    """Make the text, compare it with the file, and find the secrets in both."""
    found = asked
    if asked.choice is None:
        return found
    try:
        found = _rendered(bench, found, asked.choice)
        made = found.rendered
        if made is not None:
            found = replace(found, outgoing=bench.safety.check_outgoing(parts_of(made.parsed)))
            if asked.path is not None and not found.problem:
                compared = bench.exporter.preview(asked.path, made.text, kind=made.export_format)
                found = replace(found, preview=compared)
    except WorkbenchError as error:
        found = replace(found, problem=str(error))
    preview, texts, changes = found.preview, [found.text], tuple[DiffLine, ...]()
    if preview is not None and preview.present is not None:
        both, changes = preview.three_way, preview.lines()
        texts.append(preview.present)
        if both is not None:
            changes = tuple(_both_sides(both))
            texts += [preview.base or "", preview.text]
    masks = bench.safety.masked_lines(*texts)
    return replace(found, whole=whole_file(found.text), changes=changes, masks=masks)


def _rendered(bench: Workbench, found: Look, choice: Wanted) -> Look:
    """Make the text; when the file that is there cannot be read, what would be written is made all
    the same.
    """
    try:
        return replace(found, rendered=bench.exporter.render(found.format, choice, found.path))
    except WorkbenchError as error:
        if found.path is None:
            raise
        return replace(
            found, rendered=bench.exporter.render(found.format, choice), problem=str(error)
        )


def _how_written(kind: Format) -> str:
    """Say in a few words what becomes of a file that is there already."""
    if kind.inside:
        return "only our block"
    return "changed in place" if kind.reads else "written anew"


def _state(found: Look) -> Parts:
    """Say what writing would do to the file."""
    preview = found.preview
    if preview is None:
        return [(f"✗ {printable(found.problem)}", "$text-error")]
    if preview.three_way is not None:
        return _diverged(preview.three_way, preview.merged)
    if preview.obstacle is not None:
        return _refused(preview.obstacle)
    size = f"{number(len(found.text.encode()))} bytes"
    if preview.present is None:
        return [
            ("A new file", "bold"),
            (f" of {size} in {printable(str(preview.path.resolve().parent))}.", ""),
        ]
    if not preview.changed:
        return [
            ("Nothing to write:", "bold"),
            (f" the file holds exactly these {size} already.", ""),
        ]
    added, removed = (
        sum(line.kind == kind for line in found.changes) for kind in ("added", "removed")
    )
    counts = f" {amount(added, 'line')} in, {amount(removed, 'line')} out; {size} in all."
    return [("Replaces the file:", "bold"), (counts, "")]


def _refused(obstacle: Obstacle) -> Parts:
    """Say why the file stays as it is, and which key lets it go all the same."""
    why = (f"{printable(why_said(obstacle))}\n", "bold $text-warning")
    return [
        why,
        (key_of("export.replace"), "bold $text-accent"),
        (" replaces it after y; a copy of it is kept.", ""),
    ]


def _diverged(both: ThreeWay, merged: str | None) -> Parts:
    """Say that somebody else changed the file, and what each key does then."""
    kinds = [chunk.kind for chunk in both.chunks]
    ours, theirs, clash = (kinds.count(kind) for kind in ("ours", "theirs", "conflict"))
    told = (
        f"{amount(theirs, 'place')} changed there, {ours} here, {clash} on both sides differently."
    )
    parts: Parts = [("Others changed this file since it was last read or written here: ", "bold $text-warning"),
                    (told, "")]  # fmt: skip
    if merged is None:
        parts += [("\nThe two cannot be merged automatically.", "$text-warning")]
    elif not ours:
        return [
            *parts,
            (
                "\nNothing to write: nothing changed here since. Import it to take their changes.",
                "bold",
            ),
        ]
    else:
        write = (f"\n{key_of('export.write')}", "bold $text-accent")
        parts += [write, (" writes both sides' changes.", "")]
    return [*parts, (" esc", "bold $text-accent"), (" keeps theirs.", ""),
            (f" {key_of('export.replace')}", "bold $text-accent"),
            (" overwrites with yours, after y; a copy of theirs is kept.", MUTED)]  # fmt: skip


def _both_sides(three: ThreeWay) -> Iterator[DiffLine]:
    """Yield every place that somebody changed, with what stands there on each side."""
    for who, at, lines in three.changed():
        yield DiffLine("place", f"line {at}, {WHO[who]}", at)
        before, ours = ([line for one, line in lines if one == sign] for sign in "-+")
        yield from (DiffLine("removed", line, at + n) for n, line in enumerate(before))
        yield from (DiffLine("added", line, at + n) for n, line in enumerate(ours))
        yield from (DiffLine("note", f"> {line}") for sign, line in lines if sign == ">")


def _guarded(outgoing: Outgoing) -> Parts:
    """Return the lines for what is held back, or else for what goes out although it is flagged."""
    held, style = (
        (outgoing.refused, "$text-error")
        if outgoing.refused
        else (outgoing.warned, "$text-warning")
    )
    if not held:
        return []
    parts = [(f"\n{FLAGGED} Flagged, but exported:", f"bold {style}")]
    if outgoing.refused:
        parts = [(f"\n{FLAGGED} Held back: {amount(len(held), 'flagged part')}. ", f"bold {style}"),
                 (key_of("export.allow"), "bold $text-accent"),
                 (" exports it anyway, with a reason.", MUTED)]  # fmt: skip
    parts += [(f"\n  {one_line(one.line, 300)}", style) for one in held[:LISTED]]
    more = len(held) - LISTED
    return [*parts, (f"\n  … and {more} more", MUTED)] if more > 0 else parts


def written_said(written: Written) -> str:
    """Say what was written, where a copy of what went lies, and whether the store could note it."""
    said = f"Wrote {written.path} ({written.size:,} bytes)."
    if written.copy is not None:
        said += f" The previous file is kept as {written.copy}."
    return f"{said} The store could not record that: {written.problem}" if written.problem else said
