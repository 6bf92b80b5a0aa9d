"""What an export dialog says about flagged text: what holds the file back, and what goes out with a warning."""

from dataclasses import dataclass

from workbench.bench.leaving import parts_of
from workbench.bench.playbook import Playbooks
from workbench.bench.safety import Held, Outgoing, Safety
from workbench.core.text import one_line
from workbench.formats import ace
from workbench.formats.model import Parsed
from workbench.tui.content import MUTED
from workbench.tui.flag_view import FLAGGED

LISTED = 3
"""Flagged records that are named in the dialog."""

Pieces = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Guard:
    """Looks at what a playbook's file would carry out of the store."""

    safety: Safety
    playbooks: Playbooks

    def look(self, book: str) -> Outgoing:
        """Return what of a playbook may go out, and what may not."""
        return self.safety.check_outgoing(parts_of(Parsed(ace.NAME, playbooks=(self.playbooks.open(book),))))

    def allow(self, outgoing: Outgoing, reason: str) -> None:
        """Let everything pass that is held back; raises `WorkbenchError`."""
        for held in outgoing.refused:
            self.safety.allow(held.id, reason)


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
