"""What the export dialog says will happen, and a three-way difference as lines."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from workbench.core.files.format import ExportFormat
from workbench.core.text import printable
from workbench.services.files.diff import DiffLine
from workbench.services.files.exports.exporting import ExportPreview, Written
from workbench.services.files.overwriting import Obstacle
from workbench.services.files.overwriting_said import why_said
from workbench.services.files.threeway import ThreeWay
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.figures import amount, number

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
