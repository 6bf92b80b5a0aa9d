"""What approving would do to the saved queries, in words: in short beside the evidence, in full as a dialog."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.text import one_line
from workbench.services.safety.masking import masked
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.review.actions import IMPACT
from workbench.tui.review.candidate import heading, name
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.keys import key_of, keyed
from workbench.tui.widgets.lists.reading_pane import ReadingPane

if TYPE_CHECKING:
    from workbench.services.review.impact import Impact, Moved, QueryImpact

Cancelled = Callable[[], bool]
"""Tells whether nobody waits any more."""

NO_QUERIES = (
    "No query is saved in this store, so there is nothing to show.\n\n"
    "In Tune (4) ask something, then {tune.save-query} saves the query. From then on every candidate says which of "
    "the saved queries it would enter, and what it would push out."
)
NO_MEMORY = "It is about no memory, so no query changes."
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
            lines.append(
                Content.styled(
                    f"… and {len(entered) + len(left) - _SHORT} more: {key_of('review.impact')} shows all", MUTED
                )
            )
    moved = sum(bool(query.moved) for query in impact.queries)
    if moved:
        lines.append(
            Content.styled(
                f"The range of a factor moves in {moved} of them: {key_of('review.impact')} shows how.", MUTED
            )
        )
    return lines


def in_full(impact: "Impact") -> Content:
    """Return every saved query with what would change there."""
    first = [*impact.entered, *impact.left]
    others = [query for query in impact.queries if query not in first and not _asked_before(query)]
    rest = [query for query in others if not _only_below(query)]
    below = len(others) - len(rest)
    before = sum(_asked_before(query) for query in impact.queries)
    blocks = [Content.styled(f"{_headline(impact)} · top {impact.k} · profile {name(impact.profile)}", "bold")]
    blocks += [Content("\n").join(_with_moves(query)) for query in first]
    if rest:
        blocks.append(Content("\n").join([line for query in rest for line in _with_moves(query)]))
    if below:
        stays = "1 query" if below == 1 else f"{below} queries"
        blocks.append(
            Content.styled(f"· In {stays} it would stand below the top {impact.k}, and nothing moves.", MUTED)
        )
    if before:
        asked = "1 query was" if before == 1 else f"{before} queries were"
        blocks.append(Content.styled(f"· {asked} asked before it was made.", MUTED))
    return Content("\n\n").join(blocks)


def _asked_before(query: "QueryImpact") -> bool:
    """Tell whether nothing is to be said of a query, because it was asked before the candidate was made."""
    return not query.leaves and query.place is None and query.query.now is not None and not query.moved


def _only_below(query: "QueryImpact") -> bool:
    """Tell whether a query's top stays as it is, because the candidate would only stand somewhere below it."""
    held = query.before is not None and query.before <= query.k
    return not (query.enters or query.leaves or held or query.moved) and query.place is not None


def _with_moves(query: "QueryImpact") -> list[Content]:
    return [_one(query), *(_moved(moved) for moved in query.moved)]


def _headline(impact: "Impact") -> str:
    count = len(impact.queries)
    asked = "query" if count == 1 else "queries"
    if not impact.entered and not impact.left:
        return f"Approved, it changes the top of none of {count} saved {asked}"
    parts = [f"enters {len(impact.entered)}"] if impact.entered else []
    parts += [f"leaves {len(impact.left)}"] if impact.left else []
    return f"Approved, it {' and '.join(parts)} of {count} saved {asked}"


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


def show_impact(area: AreaScreen, proposal: Proposal, known: "Impact | None") -> None:
    """Open what approving would do to the saved queries; what is not known yet is worked out behind the dialog."""
    bench = area.bench
    mask = bench.safety.masked

    def rank(cancelled: Cancelled) -> Content:
        try:
            impact = bench.impact.of(proposal, cancelled)
        except WorkbenchError as error:
            return Content(str(error))
        return Content(NO_MEMORY) if impact is None else in_full(masked(impact, mask))

    text, find = Content.styled("Ranking the saved queries …", MUTED), None
    if not bench.library.queries:
        text = Content(keyed(NO_QUERIES))
    elif known is not None:
        text = in_full(masked(known, mask))
    elif not bench.retriever.ready:
        text = Content("The model is still loading. Ask again in a moment.")
    else:
        find = rank
    area.app.push_screen(ImpactDialog(f"If {mask(proposal.id)} is approved", text, find))


class ImpactDialog(Dialog[None]):
    """Shows a text to read; the rest of it may come later than the dialog, from `find`, which a thread calls."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(IMPACT)
    DEFAULT_CSS = """
    ImpactDialog {
        & > .dialog { width: 110; }
        & ReadingPane { height: auto; border: none; padding: 0; }
    }
    """

    def __init__(self, title: str, text: Content, find: Callable[[Cancelled], Content] | None = None) -> None:
        super().__init__(title, IMPACT)
        self._text = text
        self._find = find

    def contents(self) -> Iterable[Widget]:
        """Return the text, scrolled where it is long."""
        return (ReadingPane(id="impact"),)

    def on_mount(self) -> None:
        """Show what is known so far."""
        self.show(self._text)
        self.query_one(ReadingPane).focus()
        if self._find is not None:
            self._look_up(self._find)

    @work(thread=True, exclusive=True, group="impact", exit_on_error=False, description="preview")
    def _look_up(self, find: Callable[[Cancelled], Content]) -> None:
        """Find the rest away from the keyboard, until somebody closes the dialog."""
        worker = get_current_worker()
        text = find(lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.app.call_from_thread(self.show, text)

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
