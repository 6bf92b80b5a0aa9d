"""Auto-tune: the search with its progress, then the proposal: to move the sliders or to keep them. It saves nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError, WorkStopped
from workbench.core.text import printable
from workbench.core.tuning.autotune import Moved, Search, TunedProfile
from workbench.core.tuning.measure import Measure
from workbench.core.tuning.profile import Profile
from workbench.services.tuning.live import LiveSet
from workbench.services.tuning.profiles import Profiles
from workbench.tui.app.actions import bindings
from workbench.tui.tuning.actions import AUTO
from workbench.tui.tuning.judging.verdict import verdict_parts
from workbench.tui.widgets.bars.gauge import gauge
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import days, number
from workbench.tui.widgets.keys import keyed

_CELLS = 30

_UNSAVED = "What stands on the sliders now would go; it is in no profile yet."


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person did with a proposal: the sliders go where it has them, or they are `kept`."""

    proposal: TunedProfile
    kept: bool


class AutoTune(Dialog[Answer | None]):
    """Search the grid around `start`, beside the `own` profiles; the result is what a person answered."""

    class Went(Message):
        """So many queries are through."""

        def __init__(self, done: int, total: int) -> None:
            super().__init__()
            self.done = done
            self.total = total

    class Found(Message):
        """The search is over: a proposal, or why there is none."""

        def __init__(self, proposal: TunedProfile | None, problem: str) -> None:
            super().__init__()
            self.proposal = proposal
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(AUTO)
    DEFAULT_CSS = """
    AutoTune {
        & > .dialog { width: 84; }
        & #auto-text { height: auto; }
    }
    """

    def __init__(self, live: LiveSet, start: Profile, changed: bool, own: Profiles) -> None:
        super().__init__("Auto-tune", AUTO)
        self._live = live
        self._own = own
        self._start = start
        self._changed = changed
        self.proposal: TunedProfile | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the one text: first the progress, then the proposal."""
        yield Static(Content(""), id="auto-text")

    def on_mount(self) -> None:
        """Start the search."""
        self._show_progress(0, len(self._live.judged.queries))
        self._search()

    @work(thread=True, group="auto-tune")
    def _search(self) -> None:
        worker = get_current_worker()
        proposal, problem = None, ""
        try:
            proposal = self._live.scored.tune(
                self._start,
                Search(Measure("ndcg", self._start.k)),
                progress=lambda done, total: _nothing(self.post_message(self.Went(done, total))),
                cancelled=lambda: worker.is_cancelled,
                profiles=self._own,
            )
        except WorkStopped:
            return
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(self.Found(proposal, problem))

    @on(Went)
    def _went(self, event: Went) -> None:
        if self.proposal is None:
            self._show_progress(event.done, event.total)

    def _show_progress(self, done: int, total: int) -> None:
        head = Content(
            f"Trying every setting around {_start(self._start, self._changed)}. Esc stops it; nothing is changed."
        )
        self._say(Content("\n").join([head, Content(""), gauge(done, total, "queries", _CELLS)]))

    @on(Found)
    def _found(self, event: Found) -> None:
        self.proposal = event.proposal
        if event.proposal is None:
            self._say(Content.styled(f"✗ {printable(event.problem)}", "$text-error"))
        else:
            self._say(proposal_text(event.proposal, self._live.judged.judgments, self._changed))

    def _say(self, text: Content) -> None:
        self.query_one("#auto-text", Static).update(text)

    def action_apply(self) -> None:
        """Put the sliders where the proposal has them, or leave them where nothing is better."""
        if self.proposal is None:
            self.app.bell()
        else:
            self.dismiss(Answer(self.proposal, self.proposal.keeps))

    def action_anyway(self) -> None:
        """Put the sliders where the best setting that was tried has them, whatever it is worth."""
        if self.proposal is None or self.proposal.profile == self.proposal.start:
            self.app.bell()
        else:
            self.dismiss(Answer(self.proposal, kept=False))

    def action_cancel(self) -> None:
        """Stop the search, or leave the proposal."""
        self.workers.cancel_node(self)
        self.dismiss(None)


def proposal_text(proposal: TunedProfile, judgments: int, changed: bool) -> Content:
    """Return what would move, what it is worth on queries it was not chosen on, and the verdict."""
    about = (
        f"{number(proposal.tried)} settings around {_start(proposal.start, changed)} "
        f"on {number(proposal.queries)} queries with {number(judgments)} judgments."
    )
    lines = [Content.styled(about, MUTED), Content("")]
    if proposal.keeps:
        lines.append(Content.styled(_kept(proposal, changed), "bold $text-success"))
    if proposal.profile != proposal.start:
        what = f"Your profile {printable(proposal.contender)}" if proposal.contender else "The best setting tried"
        since = f", from {_start(proposal.start, changed)}" if changed else ""
        lines += [Content(f"{what}{since}:"), *map(_moved, proposal.moved)]
    lines += [
        Content(""),
        assemble(
            [
                (f"{proposal.verdict.metric} ", MUTED),
                (f"{proposal.before:.3f} → {proposal.after:.3f}", "bold"),
                (f" on queries it was not chosen on ({proposal.folds} folds)", ""),
            ]
        ),
        Content.styled(f"{proposal.fitted:.3f} on the queries it was chosen on, which flatters it", MUTED),
        assemble(verdict_parts(proposal.verdict)),
    ]
    for name in proposal.dead:
        left = f"On these queries {name} tells no two memories apart: its weight was left alone"
        lines.append(Content.styled(left, MUTED))
    for name in proposal.seen:
        lines.append(Content.styled(f"{printable(name)} was tuned on these queries, so it is no evidence", MUTED))
    if changed and not proposal.keeps:
        lines += [Content(""), Content.styled(_UNSAVED, "$text-warning")]
    if proposal.keeps and proposal.profile != proposal.start:
        keys = keyed("{auto.apply} leaves the sliders as they are; {auto.anyway} tries this setting.")
        lines += [Content(""), Content.styled(keys, MUTED)]
    return Content("\n").join(lines)


def _start(start: Profile, changed: bool) -> str:
    """Name what the search starts from: what stands on the sliders, be they as they were saved or moved by hand."""
    return f"the sliders as they stand ({printable(start.name)}, changed)" if changed else printable(start.name)


def _kept(proposal: TunedProfile, changed: bool) -> str:
    yours = "the sliders as they stand" if changed else printable(proposal.start.name)
    if proposal.beaten:
        return f"Keep yours: nobody can tell whether this beats {yours}."
    return f"Keep yours: nothing beats {yours} on queries it was not chosen on."


def _moved(moved: Moved) -> Content:
    life = moved.parameter == "half-life"
    before, after = (days(v) if life else f"{v or 0:.0%}" for v in (moved.before, moved.after))
    return assemble([(f"  {moved.parameter:<12}", ""), (f"{before:>7}", MUTED), (" → ", MUTED), (after, "bold")])


def _nothing(_sent: object) -> None:
    return None
