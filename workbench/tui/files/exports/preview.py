"""What an export dialog has to show: the text that would be written, what it changes, and what is held back.

Making it takes a while for a large playbook or a large file, so it is made on a thread; it holds no widget.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from workbench.core.errors import WorkbenchError
from workbench.services.files.diff import DiffLine, masked_diff
from workbench.services.files.exports.choice import Choice
from workbench.services.files.exports.contents import Rendered
from workbench.services.files.exports.exporting import Exporter, ExportPreview
from workbench.services.files.exports.unsaved import parts_of
from workbench.services.safety.safety import Outgoing, Safety
from workbench.tui.files.exports.words import three_way_lines
from workbench.tui.playbook.preview import whole_file

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
