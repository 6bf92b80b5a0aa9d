"""What an export dialog says about flagged text: what holds the file back, and what goes out with a warning."""

from dataclasses import dataclass

from workbench.core.files.format import Parsed
from workbench.core.text import one_line
from workbench.services.files.exports.exporting import ACE
from workbench.services.files.exports.unsaved import parts_of
from workbench.services.open import Workbench
from workbench.services.safety.safety import Held, Outgoing, Safety
from workbench.tui.app.saving import Preview
from workbench.tui.safety.flag_view import FLAGGED
from workbench.tui.widgets.content import MUTED

LISTED = 3
"""Flagged records that are named in the dialog."""

Pieces = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Guard:
    """Looks at what a playbook's file would carry out of the store."""

    bench: Workbench

    @property
    def safety(self) -> Safety:
        """What is flagged, and what may pass."""
        return self.bench.safety

    def look(self, book: str) -> Outgoing:
        """Return what of a playbook may go out, and what may not."""
        return self.safety.check_outgoing(parts_of(Parsed(ACE.name, playbooks=(self.bench.playbooks.open(book),))))

    def preview(self) -> Preview:
        """Return what shows how a reason would be stored, and takes the word that keeps it as typed."""
        return Preview(self.bench, again="enter", line=True)

    def allow(self, outgoing: Outgoing, reason: str) -> None:
        """Let everything pass that is held back, or nothing of it; raises `WorkbenchError`."""
        self.safety.allow_all([held.id for held in outgoing.refused], reason)


def guard_lines(outgoing: Outgoing, key: str) -> Pieces:
    """Return the lines for what is held back, or else for what goes out although it is flagged."""
    if outgoing.refused:
        count = len(outgoing.refused)
        head = f"\n{FLAGGED} Held back: {'1 flagged part' if count == 1 else f'{count} flagged parts'}. "
        tail: Pieces = [(key, "bold $text-accent"), (" lets it out as it is, after asking why.", MUTED)]
        return [(head, "bold $text-error"), *tail, *_listed(outgoing.refused, "$text-error")]
    if outgoing.warned:
        return [
            (f"\n{FLAGGED} Flagged, and goes out:", "bold $text-warning"),
            *_listed(outgoing.warned, "$text-warning"),
        ]
    return []


def _listed(held: tuple[Held, ...], style: str) -> Pieces:
    lines: Pieces = [(f"\n  {one_line(one.line, 300)}", style) for one in held[:LISTED]]
    more = len(held) - LISTED
    return [*lines, (f"\n  … and {more} more", MUTED)] if more > 0 else lines
