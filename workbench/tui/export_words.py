"""What the export dialog says will happen, and a three-way difference as lines."""

from collections.abc import Sequence

from workbench.bench.exporting import ExportPreview
from workbench.bench.filediff import DiffLine
from workbench.bench.threeway import ThreeWay
from workbench.core.text import printable
from workbench.formats.outlets import Outlet
from workbench.tui.content import MUTED
from workbench.tui.figures import number

Parts = list[tuple[str, str]]

WHO = {
    "ours": "changed here",
    "theirs": "changed by somebody else",
    "both": "changed by both in the same way",
    "conflict": "changed by both, differently: - before, + here, > by somebody else",
}


def how_written(kind: Outlet) -> str:
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
    counts = f" {_lines(added)} in, {_lines(removed)} out; {shown} in all."
    return [("Replaces the file:", "bold"), (counts, "")]


def diverged(three: ThreeWay, write: str, replace: str) -> Parts:
    """Say that somebody else changed the file, and what each key does then."""
    kinds = [chunk.kind for chunk in three.chunks]
    ours, theirs, clash = (kinds.count(kind) for kind in ("ours", "theirs", "conflict"))
    told = f"{_places(theirs)} changed there, {ours} here, {clash} on both sides differently."
    parts: Parts = [("Somebody else changed this file since it was last read or written here: ", "bold $text-warning"),
                    (told, "")]  # fmt: skip
    if three.merged is not None and not ours:
        return [*parts, ("\nNothing to write: nothing was changed here since. Importing it takes theirs in.", "bold")]
    if three.merged is not None:
        parts += [("\n", ""), (write, "bold $text-accent"), (" writes both sides' changes.", "")]
    else:
        parts += [("\nThe two cannot be put together by themselves.", "$text-warning")]
    return [*parts, (" esc", "bold $text-accent"), (" keeps theirs.", ""), (f" {replace}", "bold $text-accent"),
            (" takes yours and drops theirs, after y.", MUTED)]  # fmt: skip


def three_way_lines(three: ThreeWay) -> list[DiffLine]:
    """Return every place that somebody changed, with what stands there on each side."""
    lines: list[DiffLine] = []
    at = 1
    for chunk in three.chunks:
        if chunk.kind != "same":
            lines.append(DiffLine("place", f"line {at}, {WHO[chunk.kind]}", at))
            lines += [DiffLine("removed", _plain(line), at + i) for i, line in enumerate(chunk.base)]
            if chunk.kind != "theirs":
                lines += [DiffLine("added", _plain(line), at + i) for i, line in enumerate(chunk.ours)]
            if chunk.kind in ("theirs", "conflict"):
                lines += [DiffLine("note", f"> {_plain(line)}") for line in chunk.theirs]
        at += len(chunk.result)
    return lines


def _plain(line: str) -> str:
    return line.removesuffix("\n")


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{number(count)} lines"


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{number(count)} places"
