"""What agents did: episodes by time, and the one under the cursor whole; a person notes, tags and deletes here."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.agents.episodes.cluster import cluster_lines, compared
from workbench.core.agents.episodes.criteria import STRATEGIES, Strategy, criteria_in, is_over, phase_of
from workbench.core.agents.episodes.episode import Episode
from workbench.core.record import WorkbenchError
from workbench.core.text import one_line
from workbench.services.agents.episodes.files import bring, found_in, name_of
from workbench.services.agents.episodes.keeping import Opened
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked_name
from workbench.tui.agents.actions import EPISODES
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.links import linked_pane
from workbench.tui.widgets.content import MUTED, body, key_of, keyed
from workbench.tui.widgets.dialog import Choice, Choose, Confirm, Dialog
from workbench.tui.widgets.figures import absolute, amount, number, since
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.prompt import Prompt

if TYPE_CHECKING:
    from workbench.services.agents.episodes.finding import ConsolidationPlan

EMPTY = (
    "No episodes yet. Capture makes one of each task of a session (`workbench hooks install`), agents store them with "
    "learn_from_episode, and `workbench episode add FILE` adds them from files."
)
LOOKING = "Looking …"
LOST = "(its file cannot be read)"

MOST = 2_000
"""Episodes that are listed, the latest; `workbench episode list` has them all."""

FOUND = 50
"""Episodes that are found at most."""

ASKED = "words, domain:ci, type:…, outcome:failure, tag:…, tool:…, since:7d; empty: all"
ABOUT: Mapping[Strategy, str] = {
    "semantic": "by the task, in words", "structured": "by domain:, type:, outcome: …", "hybrid": "by both",
    "temporal": "the latest, since: and until:", "failure": "by what an error says",
}  # fmt: skip
"""The strategies, in words."""

SIGNS = {"SUCCESS": ("✓", "$text-success"), "PARTIAL": ("~", "$text-warning"), "FAILURE": ("✗", "$text-error")}
_AGE, _LINE = 9, 200


@dataclass(frozen=True, slots=True)
class Row:
    """An episode, and what its task was (`None` where its file cannot be read); of one that was found its score."""

    episode: Episode
    task: str | None
    score: float = 0.0


class Listed(Message):
    """A thread has looked up the episodes: the latest, or what was found, how many there are, and what went wrong."""

    def __init__(self, rows: Sequence[Row], every: int, problem: str = "") -> None:
        super().__init__()
        self.rows = rows
        self.every = every
        self.problem = problem


class Planned(Message):
    """A thread has looked which episodes say the same, or it could not."""

    def __init__(self, plan: "ConsolidationPlan | None", problem: str = "") -> None:
        super().__init__()
        self.plan = plan
        self.problem = problem


class EpisodesDialog(Dialog[None]):
    """The episodes of a store by time, and all that the one under the cursor says."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(EPISODES)
    DEFAULT_CSS = """
    EpisodesDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & #episodes-body { height: 1fr; }
        & #episodes-list { width: 1fr; }
        & #episodes-text { width: 1fr; border-left: solid $panel; }
        &.-narrow #episodes-body { layout: vertical; }
        &.-narrow #episodes-list { height: 8; }
        &.-narrow #episodes-text { height: 1fr; border-left: none; border-top: solid $panel; }
        & #episodes-line { height: auto; max-height: 2; color: $text-muted; }
    }
    """

    def __init__(self, bench: Workbench) -> None:
        super().__init__("Episodes: what agents did", [one for one in EPISODES if one.show])
        self._bench = bench
        self._done: list[int] = []
        self._trace = ""
        self._query, self._compared, self._pair = "", "", ("", "")
        self._strategy: Strategy = "semantic"
        self.rows: LineView[Row] = LineView(
            self._draw, lambda row: row.episode.id, empty=Content(LOOKING), id="episodes-list"
        )

    @property
    def workbench_app(self) -> Host:
        return cast(Host, self.app)

    def contents(self) -> Iterable[Widget]:
        """Return the list, the text, and a line for what was done."""
        yield Horizontal(self.rows, linked_pane("episodes-text", self._bench, self._path), id="episodes-body")
        yield Static(id="episodes-line")

    def _path(self) -> tuple[str, ...]:
        """Return where a link is opened from, as the title of what it opens says."""
        row = self.rows.current
        return ("Episodes", *([] if row is None else [masked_name(row.episode.id, self._bench.safety.masked)]))

    def on_mount(self) -> None:
        self.rows.focus()
        self._look()

    @work(thread=True, exclusive=True, group="episodes", description="look up episodes")
    def _look(self) -> None:
        worker = get_current_worker()
        episodes, every = self._bench.episodes, self._bench.episodes.all()
        try:
            listed = (
                self._found()
                if self._query
                else Listed([Row(e, episodes.task_of(e)) for e in every[:MOST]], len(every))
            )
        except WorkbenchError as error:
            listed = Listed([], 0, str(error))
        if not worker.is_cancelled:
            self.post_message(listed)

    def _found(self) -> Listed:
        """Find episodes by the strategy that was chosen."""
        text, criteria = criteria_in(self._query, self._bench.context.now())
        found = self._bench.episode_finder.find(text, self._strategy, replace(criteria, every=True), FOUND)
        return Listed([Row(one.episode, one.digest.task, one.total) for one in found.found], found.fitting)

    @on(Listed)
    def _listed(self, event: Listed) -> None:
        self.rows.set_empty(Content("No episode has to do with it." if self._query else EMPTY))
        self.rows.set_rows(event.rows, cursor=0 if self._query else None)
        if event.problem:
            self._tell(f"✗ {event.problem}")
        elif self._query:
            found = f"{number(len(event.rows))} of {number(event.every)}"
            self._tell(f"{self._strategy} “{self._query}”: {found} · {key_of('episodes.search')} empty shows all")
        elif event.every > len(event.rows):
            self._tell(f"The latest {number(MOST)} of {number(event.every)}; `workbench episode list` has them all.")
        self._show()

    @on(LineView.Highlighted, "#episodes-list")
    def _show(self) -> None:
        row = self.rows.current
        pane = self.query_one(ReadingPane)
        if row is None:
            pane.show(Content(""))
            return
        try:
            opened = self._bench.episodes.open(row.episode.id)
            before, here = self._pair
            if before and here == row.episode.id != before:
                pane.show(comparison_of(self._bench, self._bench.episodes.open(before), opened))
                return
            self._pair = ("", "")
        except WorkbenchError as error:
            pane.show(body(str(error), MUTED))
            return
        trace = not opened.is_closed or self._trace == row.episode.id
        pane.show(text_of(self._bench, opened, trace=trace))

    @on(LineView.Opened, "#episodes-list")
    def _into(self) -> None:
        self.query_one(ReadingPane).focus()

    def action_pane(self) -> None:
        """To the text, and back."""
        pane = self.query_one(ReadingPane)
        (self.rows if pane.has_focus else pane).focus()

    @asking
    async def action_search(self) -> None:
        """Find episodes by words and names; nothing shows all again."""
        ask = Prompt(f"Find episodes: {self._strategy}", self._query, placeholder=ASKED)
        found = await self.app.push_screen_wait(ask)
        if found is not None:
            self._query = found
            self._tell("")
            self._look()

    @asking
    async def action_strategy(self) -> None:
        """Choose by which strategy to find."""
        choices = [Choice(name, name, about) for name, about in ABOUT.items()]
        chosen = await self.app.push_screen_wait(Choose("Find by", choices, self._strategy))
        if chosen is not None:
            self._strategy = next(one for one in STRATEGIES if one == chosen)
            self._tell("" if self._query else keyed(f"{self._strategy}: {{episodes.search}} writes what to find."))
            self._look()

    def action_compare(self) -> None:
        """Remember the episode under the cursor, or compare it with the one that is remembered."""
        row, other = self.rows.current, self._compared
        if row is None:
            self.app.bell()
            return
        self._compared = "" if other else row.episode.id
        self._pair = (other, row.episode.id)
        self._tell("" if other else keyed("{episodes.compare} on another one compares the two."))
        self._show()

    def action_consolidate(self) -> None:
        """Look for episodes that say the same, and ask whether to put them under one."""
        self._tell("Looking for episodes that say the same …")
        self._plan()

    @work(thread=True, exclusive=True, group="episodes-plan", description="plan a consolidation")
    def _plan(self) -> None:
        worker = get_current_worker()
        try:
            planned = Planned(self._bench.episode_finder.consolidation.plan(lambda: worker.is_cancelled))
        except WorkbenchError as error:
            planned = Planned(None, str(error))
        if not worker.is_cancelled:
            self.post_message(planned)

    @on(Planned)
    def _planned(self, event: Planned) -> None:
        plan = event.plan
        if plan is None or not plan.clusters:
            self._tell(event.problem or "None that is older than 30 days says the same as another one.")
            return

        def step() -> None:
            self._bench.episode_finder.consolidation.carry_out(plan)
            self._after(keyed("Consolidated. {episodes.undo} takes it back."))

        question = f"Put {amount(len(plan.archived), 'episode')} under {number(len(plan.clusters))} that say the same?"
        detail = body("They are archived and kept.")
        ask = Confirm(question, clock=time.monotonic, detail=detail, yes="consolidate", guard=0.0)
        self.app.push_screen(ask, lambda yes: change(self, step) if yes else None)

    def action_erase(self) -> None:
        """Erase the episode under the cursor for good, once its retention is over."""
        row = self.rows.current
        if row is None or not is_over(row.episode, self._bench.context.now()):
            self._tell("Only an episode that was deleted 30 days ago or earlier can be erased.")
            return
        id = row.episode.id

        def step() -> None:
            self._bench.eraser.carry_out(self._bench.eraser.plan([id]))
            self._done.clear()
            self._after("Erased.", done=False)

        ask = Confirm(f"Erase {id} for good?", clock=time.monotonic, detail=body("There is no undo."), yes="erase")
        self.app.push_screen(ask, lambda yes: change(self, step) if yes else None)

    @asking
    async def action_add(self) -> None:
        """Add the episodes of a file or a folder."""

        def take(text: str) -> None:
            place = Path(text).expanduser()
            bring(self._bench.context, found_in(place), name_of(place))

        if await self.app.push_screen_wait(Prompt("Add episodes", placeholder="a file or a folder", take=take)):
            self._after("Added.")

    def action_trace(self) -> None:
        """Open the trace of an old episode, or close it."""
        row = self.rows.current
        self._trace = "" if row is None or self._trace == row.episode.id else row.episode.id
        self._show()

    @asking
    async def action_note(self) -> None:
        """Note something on the episode under the cursor."""
        row = self.rows.current
        if row is None:
            self.app.bell()
            return
        id, episodes = row.episode.id, self._bench.episodes
        ask = Prompt(f"A note on {id}", placeholder="what you know of it", take=lambda text: episodes.note(id, text))
        if await self.app.push_screen_wait(ask):
            self._after("Noted.")

    @asking
    async def action_tag(self) -> None:
        """Write the tags of the episode under the cursor."""
        row = self.rows.current
        if row is None:
            self.app.bell()
            return
        id, known = row.episode.id, row.episode.tags

        def write(text: str) -> None:
            tags = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
            add = [tag for tag in tags if tag not in known]
            self._bench.episodes.tag(id, add, [tag for tag in known if tag not in tags])

        ask = Prompt(f"Tags of {id}", ", ".join(known), placeholder="tags, separated by commas", take=write)
        if await self.app.push_screen_wait(ask) is not None:
            self._after("Tagged.")

    def action_approve(self) -> None:
        """Stand by the episode under the cursor, or no longer."""

        def approve(episode: Episode) -> str:
            self._bench.episodes.approve(episode.id, withdraw=episode.approved)
            return "No longer approved." if episode.approved else "Approved: agents are served it as approved by you."

        self._change(approve)

    def action_archive(self) -> None:
        """Archive the episode under the cursor, or bring it back."""

        def archive(episode: Episode) -> str:
            if episode.status == "active":
                self._bench.episodes.archive([episode.id])
                return "Archived: found on request only."
            self._bench.episodes.restore(episode.id)
            return "It is back."

        self._change(archive)

    def action_delete(self) -> None:
        """Delete the episode under the cursor, or bring it back; either way there is a way back."""

        def delete(episode: Episode) -> str:
            if episode.status == "deleted":
                self._bench.episodes.restore(episode.id)
                return "It is back."
            self._bench.episodes.delete(episode.id)
            return f"Deleted: kept for 30 days, not served. {key_of('episodes.undo')} takes it back."

        self._change(delete)

    def _change(self, act: Callable[[Episode], str]) -> None:
        """Change the episode under the cursor, and say what `act` says of it."""
        row = self.rows.current
        if row is None:
            self.app.bell()
        else:
            change(self, lambda: self._after(act(row.episode)))

    def action_undo(self) -> None:
        """Take back the last change that was made here."""
        if not self._done:
            self._tell("Nothing was changed here yet.")
            return

        def step() -> None:
            self._bench.history.undo_revision(self._done[-1])
            self._done.pop()
            self._after("Taken back.", done=False)

        change(self, step)

    def _after(self, said: str, *, done: bool = True) -> None:
        """Show what was changed."""
        if done:
            self._done.append(self._bench.library.revision)
        self._tell(said)
        self._look()

    def _tell(self, said: str) -> None:
        self.query_one("#episodes-line", Static).update(body(said))

    def _draw(self, row: Row, width: int) -> list[Cell]:  # noqa: ARG002 - as a list asks for its cells
        episode, now = row.episode, self._bench.context.now()
        sign, style = SIGNS[episode.outcome]
        gone = episode.status != "active"
        lost = row.task is None
        task = LOST if row.task is None else one_line(self._bench.safety.masked(row.task), _LINE)
        return [
            Cell(sign, 1, style),
            Cell(f"({episode.status}) {task}" if gone else task, 0, MUTED if gone or lost else ""),
            *([Cell(f"{row.score:.2f}", 4, MUTED)] if row.score else []),
            Cell(since(episode.at, now), _AGE, MUTED, "right"),
        ]


def text_of(bench: Workbench, opened: Opened, *, trace: bool) -> Content:
    """Return all that an episode says, masked, as a text."""
    episode, use, mask = opened.episode, opened.use, bench.safety.masked
    last = f", last {absolute(use.last_accessed_at)}" if use.last_accessed_at is not None else ""
    facts = [
        f"{absolute(episode.at)} · {episode.outcome.lower()} · {phase_of(episode, bench.context.now())}"
        + (" · approved" if episode.approved else "")
        + (" · by capture" if episode.captured else ""),
        " · ".join(mask(name) for name in (episode.domain, episode.type, opened.body.session) if name),
        mask(" ".join(f"#{tag}" for tag in episode.tags)),
        f"read {number(use.access_count)}×{last} · {number(len(use.referenced_by))} rest on it",
        *(mask(line) for line in (cluster_lines(opened.cluster, episode.id) if opened.cluster else ())),
        "" if trace else keyed("It is old, so its trace is closed: {episodes.trace} opens it."),
    ]
    parts: list[tuple[str, str]] = [(f"{mask(episode.id)}\n", "bold"), ("\n".join(filter(None, facts)), MUTED)]
    for note in opened.notes:
        parts += [("\n\nnote ", "bold"), (f"{absolute(note.at)}\n", MUTED), (mask(note.text), "")]
    doc = opened.doc(trace=trace)
    for name in ("task", "execution", "outcome", "reflection"):
        said = "\n".join(_lines(doc.get(name)))
        if said:
            parts += [(f"\n\n{name}\n", "bold"), (mask(said), "")]
    return Content("").join(body(text, style) for text, style in parts)


def comparison_of(bench: Workbench, one: Opened, other: Opened) -> Content:
    """Return what two episodes say, part by part; what they have in common is said once."""
    mask = bench.safety.masked
    parts = [(f"1  {mask(one.episode.id)}\n2  {mask(other.episode.id)}", "bold")]
    for name, left, right in compared(one.body, other.body):
        parts.append((f"\n\n{name}\n", "bold"))
        if left == right:
            parts.append((mask(left), MUTED))
        else:
            parts += [(f"1  {mask(left) or '–'}\n", ""), (f"2  {mask(right) or '–'}", "")]
    return Content("").join(body(text, style) for text, style in parts)


def _lines(value: object, indent: str = "") -> Iterable[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, Mapping | list | tuple) and item:
                yield f"{indent}{name}:"
                yield from _lines(item, indent + "  ")
            elif item not in (None, "", [], {}, ()):
                yield f"{indent}{name}: {item}"
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, Mapping):
                yield f"{indent}- " + " · ".join(f"{name}: {part}" for name, part in item.items())
            else:
                yield f"{indent}- {item}"
