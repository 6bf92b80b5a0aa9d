"""What an export dialog has to show: the text that would be written, what it changes, and what is held back.

Making it takes a while for a large playbook or a large file, so it is made on a thread; it holds no widget.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from workbench.core.files.format import ExportFormat
from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.services.files.exports.choice import Choice
from workbench.services.files.exports.contents import Rendered
from workbench.services.files.exports.exporting import Exporter, ExportPreview, Written
from workbench.services.files.exports.unsaved import parts_of
from workbench.services.files.overwriting import Obstacle, why_said
from workbench.services.files.threeway import DiffLine, ThreeWay, masked_diff
from workbench.services.safety.safety import Outgoing, Safety
from workbench.tui.playbook.preview import whole_file
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.figures import amount, number

# What the export dialog says will happen, and a three-way difference as lines.


Parts = list[tuple[str, str]]

WHO = {
    "ours": "changed here",
    "theirs": "changed by somebody else",
    "both": "changed by both in the same way",
    "conflict": "changed by both, differently: - before, + here, > by somebody else",
}


def how_written(kind: ExportFormat) -> str:
    """Say in a few words what becomes of a file that is there already."""
    if kind.inside:
        return "only our block"
    return "changed in place" if kind.reads else "written anew"


def state(preview: ExportPreview, changes: Sequence[DiffLine], size: int) -> Parts:
    """Say what writing would do to the file, which is as somebody here left it."""
    shown = f"{number(size)} bytes"
    if preview.present is None:
        return [("A new file", "bold"), (f" of {shown} in {printable(str(preview.path.resolve().parent))}.", "")]
    if not preview.changed:
        return [("Nothing to write:", "bold"), (f" the file holds exactly these {shown} already.", "")]
    added, removed = (sum(line.kind == kind for line in changes) for kind in ("added", "removed"))
    counts = f" {amount(added, 'line')} in, {amount(removed, 'line')} out; {shown} in all."
    return [("Replaces the file:", "bold"), (counts, "")]


def refused(obstacle: Obstacle, replace: str, merge: str = "") -> Parts:
    """Say why the file stays as it is; `replace` is the key that lets it go all the same, `merge` that for both."""
    parts: Parts = [(printable(why_said(obstacle)), "bold $text-warning"), ("\n", "")]
    if merge:
        parts += [(merge, "bold $text-accent"), (" keeps it and adds what only you have; ", "")]
    return [*parts, (replace, "bold $text-accent"), (" replaces it after y; a copy of it is kept.", "")]


def written_said(written: Written) -> str:
    """Say what was written, where a copy of what went lies, and whether the store could note it."""
    said = f"Wrote {written.path} ({written.size:,} bytes)."
    if written.copy is not None:
        said += f" What it held is kept as {written.copy}."
    return f"{said} The store could not note that: {written.problem}" if written.problem else said


def diverged(three: ThreeWay, merged: str | None, write: str, replace: str) -> Parts:
    """Say that somebody else changed the file, and what each key does then."""
    kinds = [chunk.kind for chunk in three.chunks]
    ours, theirs, clash = (kinds.count(kind) for kind in ("ours", "theirs", "conflict"))
    told = f"{amount(theirs, 'place')} changed there, {ours} here, {clash} on both sides differently."
    parts: Parts = [("Somebody else changed this file since it was last read or written here: ", "bold $text-warning"),
                    (told, "")]  # fmt: skip
    if merged is not None and not ours:
        return [*parts, ("\nNothing to write: nothing was changed here since. Importing it takes theirs in.", "bold")]
    if merged is not None:
        parts += [("\n", ""), (write, "bold $text-accent"), (" writes both sides' changes.", "")]
    else:
        parts += [("\nThe two cannot be put together by themselves.", "$text-warning")]
    return [*parts, (" esc", "bold $text-accent"), (" keeps theirs.", ""), (f" {replace}", "bold $text-accent"),
            (" takes yours, after y; a copy of theirs is kept.", MUTED)]  # fmt: skip


def three_way_lines(three: ThreeWay, masks: Mapping[str, str] = MappingProxyType({})) -> list[DiffLine]:
    """Return every place that somebody changed, with what stands there on each side.

    `masks` are the lines that hold secrets, with what is shown in their place.
    """

    def plain(line: str) -> str:
        bare = line.removesuffix("\n")
        return masks.get(bare, bare)

    lines: list[DiffLine] = []
    at = 1
    for chunk in three.chunks:
        if chunk.kind != "same":
            lines.append(DiffLine("place", f"line {at}, {WHO[chunk.kind]}", at))
            lines += [DiffLine("removed", plain(line), at + i) for i, line in enumerate(chunk.base)]
            if chunk.kind != "theirs":
                lines += [DiffLine("added", plain(line), at + i) for i, line in enumerate(chunk.ours)]
            if chunk.kind in ("theirs", "conflict"):
                lines += [DiffLine("note", f"> {plain(line)}") for line in chunk.theirs]
        at += len(chunk.result)
    return lines


def hidden_lines(count: int, opens: str) -> Parts:
    """Say how many lines are shown without their secrets, which the file holds all the same, and what opens them."""
    if not count:
        return []
    lines = amount(count, "line holds", "lines hold")
    return [(f"\n! {lines} a secret, masked here only; ", "$text-warning"),
            (opens, "bold $text-accent"), (" in the text shows it.", MUTED)]  # fmt: skip


NOTHING = Outgoing((), (), ())


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be written where; `problem` says what is wrong with that, and there is no path or no choice then."""

    format: str
    choice: Choice | None
    path: Path | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Views:
    """The lines of the two panes: the whole file and what changes."""

    whole: Sequence[DiffLine] = ()
    changes: Sequence[DiffLine] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to see of an export; `plain` are the lines as they are, `masked` those without their secrets.

    Without a `preview` nothing can be written, and `problem` says why. `hidden` counts the lines with a secret.
    """

    asked: Asked
    problem: str = ""
    rendered: Rendered | None = None
    outgoing: Outgoing = NOTHING
    preview: ExportPreview | None = None
    plain: Views = field(default_factory=Views)
    masked: Views = field(default_factory=Views)
    hidden: int = 0

    @property
    def text(self) -> str:
        """What would be written: with the changes of somebody else where they do not collide with ours."""
        own = self.rendered.text if self.rendered else ""
        return (self.preview.merged or own) if self.preview else own


def look(exporter: Exporter, safety: Safety, asked: Asked) -> Look:
    """Make the text, compare it with the file, and find the secrets in both; on any thread."""
    found = Look(asked, asked.problem)
    if asked.choice is None:
        return found
    try:
        found = _rendered(exporter, found, asked.choice)
        made = found.rendered
        if made is not None:
            found = replace(found, outgoing=safety.check_outgoing(parts_of(made.parsed)))
            if asked.path is not None and not found.problem:
                preview = exporter.preview(asked.path, made.text, made.remarks, kind=made.export_format)
                found = replace(found, preview=preview)
    except WorkbenchError as error:
        found = replace(found, problem=str(error))
    return _with_views(safety, found)


def _rendered(exporter: Exporter, found: Look, choice: Choice) -> Look:
    """Make the text; when the file that is there cannot be read, what would be written is made all the same."""
    format, path = found.asked.format, found.asked.path
    try:
        return replace(found, rendered=exporter.render(format, choice, path))
    except WorkbenchError as error:
        if path is None:
            raise
        return replace(found, rendered=exporter.render(format, choice), problem=str(error))


def _with_views(safety: Safety, found: Look) -> Look:
    masks = safety.masked_lines(*_texts(found))
    whole = whole_file(found.text)
    masked = Views(masked_diff(whole, masks), _changes(found.preview, masks))
    return replace(found, plain=Views(whole, _changes(found.preview)), masked=masked, hidden=len(masks))


def _texts(found: Look) -> tuple[str, ...]:
    """Return the texts that the panes show parts of."""
    preview = found.preview
    if preview is None:
        return (found.text,)
    chunks = preview.three_way.chunks if preview.diverged else ()
    base, ours = ("".join(line for chunk in chunks for line in getattr(chunk, side)) for side in ("base", "ours"))
    return found.text, preview.present or "", base, ours


def _changes(preview: ExportPreview | None, masks: Mapping[str, str] = MappingProxyType({})) -> Sequence[DiffLine]:
    if preview is None or preview.present is None:
        return ()
    if preview.diverged:
        return three_way_lines(preview.three_way, masks)
    return masked_diff(preview.lines(), masks)
