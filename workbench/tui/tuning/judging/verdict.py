"""The line at the bottom of Tune: is it better than the saved profile, over all judged queries?"""

import time

from textual import work
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from workbench.core.text import printable
from workbench.core.tuning.verdict import Verdict, signed
from workbench.services.tuning.measuring import Job, LiveVerdict, Measured, Measuring
from workbench.services.tuning.session import TuningSession
from workbench.services.tuning.tuning import Tuning
from workbench.tui.widgets.content import MUTED, assemble, key_of, keyed
from workbench.tui.widgets.lists.fixed_text import FixedText, whole_words

OLD = "…"
"""Stands before a verdict on settings that have been moved since."""

NOTHING_JUDGED = "{tune.judge} grades what could answer a query; a verdict needs judged queries."
MEASURING = "Measuring the judged queries …"
WAITING = "The verdict comes when the model is loaded."

_STYLES = {"better": "bold $text-success", "worse": "bold $text-error", "unclear": "bold"}
_MARKS = {"better": "▲ ", "worse": "▼ ", "unclear": ""}


REST_SECONDS = 0.03
"""How long the ranking gets to be painted before anything is measured."""

PATIENCE = 0.3
"""Seconds after which a measurement that is out of date is given up; a shorter one is shown while one slides."""


class MeasuringEnded(Message, bubble=False):
    """A thread measured what was wanted, or gave it up."""

    def __init__(self, measured: Measured) -> None:
        super().__init__()
        self.measured = measured


class VerdictLine(FixedText):
    """One line, in fewer words where there is less room; a click opens the metrics. It has measured what it shows."""

    DEFAULT_CSS = """
    VerdictLine { height: 1; background: $surface; }
    """

    def __init__(self, tuning: Tuning, session: TuningSession, measuring: Measuring) -> None:
        super().__init__(Content.styled(f" {WAITING}", MUTED), id="verdict")
        self._tuning = tuning
        self._session = session
        self._measuring = measuring
        self._found: LiveVerdict | None = None
        self._said = WAITING
        self._old = False

    # Measuring

    def rest(self) -> None:
        """Measure where the hand has come to rest; what is shown holds, unless something is being measured."""
        self.want()
        if not self._measuring.running:
            self.age(False)

    def want(self) -> None:
        """Have the settings measured behind the screen, unless they are."""
        if not self._tuning.ready:
            self.say(WAITING)
        elif not self._measuring.judged:
            self._measuring.forget()
            self.say(keyed(NOTHING_JUDGED))
        else:
            first = self._measuring.last is None
            job = self._measuring.begin(self._session)
            if job is not None:
                if first:
                    self.say(MEASURING)
                self._measure(job)

    @work(thread=True, group="verdict", description="verdict")
    def _measure(self, job: Job) -> None:
        time.sleep(REST_SECONDS)
        worker, begun = get_current_worker(), time.monotonic()

        def cancelled() -> bool:
            return worker.is_cancelled

        def given_up() -> bool:
            out_of_date = job.wanted != self._measuring.wanted(self._session)
            return worker.is_cancelled or (out_of_date and time.monotonic() - begun > PATIENCE)

        measured = self._measuring.measure(job, cancelled, given_up)
        if not worker.is_cancelled:
            self.post_message(MeasuringEnded(measured))

    def on_measuring_ended(self, event: MeasuringEnded) -> None:
        """Show what was measured, and measure on where the sliders have moved since."""
        self._measuring.end(event.measured)
        if event.measured.found is not None:
            self.show(event.measured.found)
        elif event.measured.problem:
            self.say(event.measured.problem)
        self.want()

    # Showing

    def on_resize(self) -> None:
        """Say it in as many words as there is room for."""
        self._draw()

    def age(self, old: bool = True) -> None:
        """Mark the verdict as that of settings that are no more; the next one comes when the hand rests."""
        if old != self._old:
            self._old = old
            self._draw()

    def say(self, text: str) -> None:
        """Show a sentence in place of a verdict."""
        self._found, self._said, self._old = None, text, False
        self._draw()

    def show(self, found: LiveVerdict) -> None:
        self._found, self._old = found, False
        self._draw()

    def _draw(self) -> None:
        found, room = self._found, max(0, self.size.width - 2)
        if found is None:
            self.write(Content(" ") + whole_words(Content.styled(printable(self._said), MUTED), room))
            return
        texts = wordings(found)
        text = next((t for t in texts if t.cell_length <= room), texts[-1])
        # The mark has a place of its own, so that nothing moves while one slides.
        self.write(Content.styled(OLD if self._old else " ", MUTED) + whole_words(text, room))

    def on_click(self) -> None:
        """Open the metrics."""
        self.screen.call_later(self.screen.run_action, "metrics")


def wordings(found: LiveVerdict) -> tuple[Content, ...]:
    """Return ways to say a verdict in one line, the longest first."""
    whole = verdict_text(found)
    longest = (whole + Content.styled(f" · {said}", MUTED), whole) if (said := unjudged_text(found)) else (whole,)
    if found.same:
        return *longest, _same(found, ""), Content.styled(f"{found.verdict.metric} {found.means[1]:.2f}", "")
    return *longest, short_text(found, band=True), short_text(found, band=False)


def unjudged_text(found: LiveVerdict) -> str:
    """Return how many of the best places hold what nobody graded, and what to do about it; empty for none."""
    count, places = found.new.unjudged, sum(len(query.ids) for query in found.new.queries)
    return (
        f"{count:,} of {places:,} served are unjudged: {key_of('tune.metrics')}, "
        f"{key_of('metrics.look')}, {key_of('tune.judge')}"
        if count
        else ""
    )


def verdict_text(found: LiveVerdict) -> Content:
    """Return the means, the counts, the difference with its band, and what can be concluded."""
    if found.same:
        return _same(found, f" with {printable(found.base.profile.name)}")
    before, now = found.means
    head = [(f"{found.verdict.metric} ", MUTED), (f"{now:.2f}", "bold"), (f" (saved {before:.2f}) · ", MUTED)]
    return assemble([*head, *verdict_parts(found.verdict)])


def _same(found: LiveVerdict, with_whom: str) -> Content:
    queries = found.verdict.queries
    count = "1 judged query" if queries == 1 else f"{queries} judged queries"
    rest = f" over {count} · move a slider to compare{with_whom}"
    return assemble([(f"{found.verdict.metric} ", MUTED), (f"{found.means[1]:.2f}", "bold"), (rest, MUTED)])


def short_text(found: LiveVerdict, *, band: bool) -> Content:
    """Return the same in fewer words; `m` shows the rest."""
    (before, now), verdict = found.means, found.verdict
    low_high = f" [{signed(verdict.low)}, {signed(verdict.high)}]" if band else ""
    more = f", {verdict.more} more queries" if band and verdict.more is not None else ""
    conclusion = f"inconclusive{more}" if verdict.outcome == "unclear" else verdict.outcome
    end = ", provisional" if verdict.provisional else ""
    return assemble(
        [
            (f"{found.verdict.metric} ", MUTED),
            (f"{now:.2f}", "bold"),
            (f" ({before:.2f}) · " if band else " · ", MUTED),
            (f"{verdict.wins} better, {verdict.losses} worse, {verdict.ties} equal · Δ {signed(verdict.delta)}", ""),
            (f"{low_high} · ", MUTED),
            (f"{_MARKS[verdict.outcome]}{conclusion}{end}", _STYLES[verdict.outcome]),
        ]
    )


def verdict_parts(verdict: Verdict) -> list[tuple[str, str]]:
    """Return counts, difference, band and conclusion."""
    counts = f"{verdict.wins} better, {verdict.losses} worse, {verdict.ties} equal"
    band = f"[{signed(verdict.low)}, {signed(verdict.high)}]"
    conclusion = _MARKS[verdict.outcome] + verdict.conclusion
    return [
        (counts, ""),
        (f" · Δ {signed(verdict.delta)} ", ""),
        (f"{band} · ", MUTED),
        (conclusion, _STYLES[verdict.outcome]),
    ]
