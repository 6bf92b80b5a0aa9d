"""The line at the bottom of Tune: is it better than the saved profile, over all judged queries?"""

from textual import events
from textual.content import Content
from textual.widgets import Static

from workbench.bench.live import LiveVerdict
from workbench.core.text import printable
from workbench.retrieval.verdict import Verdict, signed
from workbench.tui.content import MUTED, assemble

ONE_LINE = 134
"""Cells that hold the longest verdict."""

NOTHING_JUDGED = "J grades what could answer a query; a verdict on the settings needs judged queries."
MEASURING = "Measuring the judged queries …"
WAITING = "The verdict comes when the model is loaded."

_STYLES = {"better": "bold $text-success", "worse": "bold $text-error", "unclear": "bold"}
_MARKS = {"better": "▲ ", "worse": "▼ ", "unclear": ""}


class VerdictLine(Static):
    """One line, or two where one is too short; a click opens the metrics."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    VerdictLine { height: 2; padding: 0 1; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__(Content.styled(WAITING, MUTED), id="verdict")

    def on_resize(self, event: events.Resize) -> None:
        """Take a second line where one is too short, so that nothing jumps when the verdict gets longer."""
        self.styles.height = 1 if event.size.width >= ONE_LINE else 2

    def say(self, text: str) -> None:
        """Show a sentence in place of a verdict."""
        self.update(Content.styled(printable(text), MUTED))

    def show(self, found: LiveVerdict) -> None:
        """Show a verdict."""
        self.update(verdict_text(found))

    def on_click(self) -> None:
        """Open the metrics."""
        self.screen.call_later(self.screen.run_action, "metrics")


def verdict_text(found: LiveVerdict) -> Content:
    """Return the means, the counts, the difference with its band, and what can be concluded."""
    before, now = found.means
    queries = found.verdict.queries
    count = "1 judged query" if queries == 1 else f"{queries} judged queries"
    if found.same:
        return assemble(
            [
                ("nDCG@10 ", MUTED),
                (f"{now:.2f}", "bold"),
                (f" over {count} · move a slider to compare with {printable(found.base.profile.name)}", MUTED),
            ]
        )
    head = [("nDCG@10 ", MUTED), (f"{now:.2f}", "bold"), (f" (saved {before:.2f}) · ", MUTED)]
    return assemble([*head, *verdict_parts(found.verdict)])


def verdict_parts(verdict: Verdict) -> list[tuple[str, str]]:
    """Return counts, difference, band and conclusion."""
    counts = f"better on {verdict.wins}, worse on {verdict.losses}, same on {verdict.ties}"
    band = f"[{signed(verdict.low)}, {signed(verdict.high)}]"
    conclusion = _MARKS[verdict.outcome] + verdict.conclusion
    return [
        (counts, ""),
        (f" · Δ {signed(verdict.delta)} ", ""),
        (f"{band} · ", MUTED),
        (conclusion, _STYLES[verdict.outcome]),
    ]
