"""Why an episode stands where it stands: the five terms of its score, each with what it comes from."""

from collections.abc import Sequence

from textual.content import Content

from workbench.bench.tuning.episode_terms import TermPart
from workbench.core.text import printable
from workbench.tui.tuning.parameters import weight
from workbench.tui.widgets.bars.factor_bar import fill_of
from workbench.tui.widgets.content import MUTED, assemble, line

_NAME = 12


def terms_text(terms: Sequence[TermPart], width: int) -> list[Content]:
    """Return a line per term and what the sum is over; under each its fill in the bar of the row."""
    header = f"{'':{_NAME}}{'value':>7}   {'weight':>6}   {'part':>7}"
    lines = [Content.styled(header[:width], MUTED)]
    for term in terms:
        fill, style = fill_of(term.factor)
        figures = f"{term.value:>7.4f} × {weight(round(term.weight, 6)):>6} = {term.weighted:>7.5f}"
        head = assemble([(f"{fill} ", style), (f"{term.term:<{_NAME - 2}}", "bold"), (figures, "")])
        note = printable(term.note)
        room = width - head.cell_length - 2
        lines.append(head + Content("  ") + line(note, room, MUTED).rstrip() if note and room >= len(note) else head)
        if note and room < len(note):
            lines.append(Content.styled(f"    {note}", MUTED))
    return lines
