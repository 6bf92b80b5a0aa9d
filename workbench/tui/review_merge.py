"""The question before a candidate is merged into an existing memory: both texts, their difference, the outcome."""

from collections.abc import Callable, Iterable

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.memory import Memory
from workbench.tui.content import MUTED, body, word_diff
from workbench.tui.review_candidate import diff_legend, heading, merge_outcome, name
from workbench.tui.review_evidence import ALIKE, overlap
from workbench.tui.widgets.confirm import Confirm


class MergeConfirm(Confirm):
    """Ask whether `candidate` goes into `other`. Nothing is forgotten by it, so no guard delays the answer."""

    DEFAULT_CSS = """
    MergeConfirm {
        & > .dialog { width: 110; }
        & VerticalScroll { height: auto; max-height: 60vh; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self, candidate: Memory, other: Memory, similarity: float, *, clock: Callable[[], float]) -> None:
        super().__init__(
            f"Merge {name(candidate.id)} into {name(other.id)}?",
            clock=clock,
            detail=merge_detail(candidate, other, similarity),
            yes="merge",
            no="leave both",
            guard=0.0,
        )

    def contents(self) -> Iterable[Widget]:
        """Return the detail, scrolled where it is long."""
        return (VerticalScroll(Static(self._detail or Content(""))),)


def merge_detail(candidate: Memory, other: Memory, similarity: float) -> Content:
    """Return both texts in full, their word diff where it reads well, and what merging does."""
    newest = max(candidate, other, key=lambda m: (m.created_at, m.id))
    parts = [
        heading("The candidate"),
        body(candidate.content),
        Content(""),
        heading("The existing memory", Content.styled(f"{other.status} · similarity {similarity:.3f}", MUTED)),
        body(other.content),
        Content(""),
    ]
    if overlap(other.content, candidate.content) >= ALIKE:
        difference = word_diff(other.content, candidate.content)
        parts += [heading("From the existing to the candidate", diff_legend()), difference, Content("")]
    parts.append(merge_outcome(kept=other.id, newest=newest, gone=candidate.id))
    return Content("\n").join(parts)
