"""What approving would do to the saved queries, in words: in short beside the evidence, in full as a dialog."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from workbench.core.text import one_line
from workbench.tui.app.actions import bindings
from workbench.tui.review.actions import IMPACT
from workbench.tui.review.candidate import heading, name
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.lists.reading_pane import ReadingPane

if TYPE_CHECKING:
    from workbench.bench.review.impact import Impact, Moved, QueryImpact

NO_QUERIES = (
    "No query is saved in this store, so there is nothing to show.\n\n"
    "In Tune (4) ask something, then S saves the query. From then on every candidate says which of the saved "
    "queries it would enter, and what it would push out."
)
_SHORT = 4
"""How many queries are named beside the evidence."""

_QUERY = 80

HIGH = 0.65
"""Share of the screen's height that the text takes at most."""


def in_short(impact: "Impact") -> list[Content]:
    """Return the lines that stand beside the evidence."""
    entered, left = impact.entered, impact.left
    count = len(impact.queries)
    which = "the saved query" if count == 1 else f"{count} saved queries"
    if not entered and not left:
        lines = [Content.styled(f"Approving changes the top {impact.k} of none of {which}.", MUTED)]
    else:
        lines = [heading(_headline(impact), Content.styled(f"top {impact.k} · {name(impact.profile)}", MUTED))]
        lines += [_one(query) for query in (*entered, *left)[:_SHORT]]
        if len(entered) + len(left) > _SHORT:
            lines.append(Content.styled(f"… and {len(entered) + len(left) - _SHORT} more: i shows all", MUTED))
    moved = sum(bool(query.moved) for query in impact.queries)
    if moved:
        lines.append(Content.styled(f"The range of a factor moves in {moved} of them: i shows how.", MUTED))
    return lines


def in_full(impact: "Impact") -> Content:
    """Return every saved query with what would change there."""
    first = [*impact.entered, *impact.left]
    rest = [query for query in impact.queries if query not in first and not _asked_before(query)]
    before = sum(_asked_before(query) for query in impact.queries)
    blocks = [Content.styled(f"{_headline(impact)} · top {impact.k} · profile {name(impact.profile)}", "bold")]
    blocks += [Content("\n").join(_with_moves(query)) for query in first]
    if rest:
        blocks.append(Content("\n").join([line for query in rest for line in _with_moves(query)]))
    if before:
        asked = "1 query was" if before == 1 else f"{before} queries were"
        blocks.append(Content.styled(f"· {asked} asked before it was made.", MUTED))
    return Content("\n\n").join(blocks)


def _asked_before(query: "QueryImpact") -> bool:
    """Tell whether nothing is to be said of a query, because it was asked before the candidate was made."""
    return not query.leaves and query.place is None and query.query.now is not None and not query.moved


def _with_moves(query: "QueryImpact") -> list[Content]:
    return [_one(query), *(_moved(moved) for moved in query.moved)]


def _headline(impact: "Impact") -> str:
    parts = [f"enters {len(impact.entered)}"] if impact.entered or not impact.left else []
    parts += [f"leaves {len(impact.left)}"] if impact.left else []
    count = len(impact.queries)
    return f"Approved, it {' and '.join(parts)} of {count} saved {'query' if count == 1 else 'queries'}"


def _one(query: "QueryImpact") -> Content:
    asked = f"“{one_line(query.query.text, _QUERY)}”"
    if query.leaves:
        return assemble([("− ", "bold $text-error"), (asked, ""), (f"  loses it (was {query.before})", MUTED)])
    if query.place is None:
        why = "asked before it was made" if query.query.now is not None else "it would not be served"
        return assemble([("· ", MUTED), (asked, ""), (f"  {why}", MUTED)])
    if not query.enters:
        held = query.before is not None and query.before <= query.k
        how = f"stays at {query.place} (was {query.before})" if held else f"would stand at {query.place}, below the top"
        return assemble([("· ", MUTED), (asked, ""), (f"  {how}", MUTED)])
    out = query.displaced
    line = [("+ ", "bold $text-success"), (asked, ""), (f"  enters at {query.place}", "bold")]
    if out is not None:
        line += [(" and pushes out ", MUTED), (f"“{one_line(out.line, _QUERY)}”", ""), (f" {name(out.id)}", MUTED)]
    return assemble(line)


def _moved(moved: "Moved") -> Content:
    pairs = (("min", moved.low), ("max", moved.high))
    steps = [f"{what} {before:.3f} → {after:.3f}" for what, (before, after) in pairs if abs(after - before) >= 5e-4]
    return Content.styled(f"    {moved.factor}: {', '.join(steps)}", MUTED)


class ImpactDialog(Dialog[None]):
    """Shows the impact in full; it may come later than the dialog."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(IMPACT)
    DEFAULT_CSS = """
    ImpactDialog {
        & > .dialog { width: 110; }
        & ReadingPane { height: auto; border: none; padding: 0; }
    }
    """

    def __init__(self, title: str, text: Content) -> None:
        super().__init__(title, IMPACT)
        self._text = text

    def contents(self) -> Iterable[Widget]:
        """Return the text, scrolled where it is long."""
        return (ReadingPane(id="impact"),)

    def on_mount(self) -> None:
        """Show what is known so far."""
        self.show(self._text)
        self.query_one(ReadingPane).focus()

    def show(self, text: Content) -> None:
        """Show another text."""
        pane = self.query_one(ReadingPane)
        pane.styles.height = "auto"
        pane.show(text)
        self.call_after_refresh(pane.fit, HIGH)

    def on_resize(self) -> None:
        """Fit the box anew."""
        pane = self.query_one(ReadingPane)
        pane.styles.height = "auto"
        self.call_after_refresh(pane.fit, HIGH)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)
