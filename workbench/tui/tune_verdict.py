"""The line at the bottom of Tune: is it better than the saved profile, over all judged queries?"""

from textual.content import Content
from textual.widgets import Static

from workbench.bench.live import LiveVerdict
from workbench.core.text import printable
from workbench.retrieval.verdict import Verdict, signed
from workbench.tui.content import MUTED, assemble

ONE_LINE = 134
"""Cells that hold the longest verdict."""

WITH_BAND = 96
"""Cells that hold the short form with its band."""

NOTHING_JUDGED = "J grades what could answer a query; a verdict on the settings needs judged queries."
MEASURING = "Measuring the judged queries …"
WAITING = "The verdict comes when the model is loaded."

_STYLES = {"better": "bold $text-success", "worse": "bold $text-error", "unclear": "bold"}
_MARKS = {"better": "▲ ", "worse": "▼ ", "unclear": ""}


class VerdictLine(Static):
    """One line, in fewer words where there is less room; a click opens the metrics."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    VerdictLine { height: 1; padding: 0 1; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__(Content.styled(WAITING, MUTED), id="verdict")
        self._found: LiveVerdict | None = None

    def on_resize(self) -> None:
        """Say it in as many words as there is room for."""
        if self._found is not None:
            self._draw(self._found)

    def say(self, text: str) -> None:
        """Show a sentence in place of a verdict."""
        self._found = None
        self.update(Content.styled(printable(text), MUTED), layout=False)

    def show(self, found: LiveVerdict) -> None:
        """Show a verdict."""
        self._found = found
        self._draw(found)

    def _draw(self, found: LiveVerdict) -> None:
        width = self.content_size.width
        text = verdict_text(found) if width >= ONE_LINE or found.same else short_text(found, band=width >= WITH_BAND)
        self.update(text, layout=False)

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


def short_text(found: LiveVerdict, *, band: bool) -> Content:
    """Return the same in fewer words; `m` shows the rest."""
    (before, now), verdict = found.means, found.verdict
    low_high = f" [{signed(verdict.low)}, {signed(verdict.high)}]" if band else ""
    more = "" if verdict.more is None else f", {verdict.more} more"
    conclusion = f"can't tell{more}" if verdict.outcome == "unclear" else verdict.outcome
    end = ", provisional" if verdict.provisional else ""
    return assemble(
        [
            ("nDCG@10 ", MUTED),
            (f"{now:.2f}", "bold"),
            (f" ({before:.2f}) · ", MUTED),
            (f"+{verdict.wins} −{verdict.losses} ={verdict.ties} · Δ {signed(verdict.delta)}", ""),
            (f"{low_high} · ", MUTED),
            (f"{_MARKS[verdict.outcome]}{conclusion}{end}", _STYLES[verdict.outcome]),
        ]
    )


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
