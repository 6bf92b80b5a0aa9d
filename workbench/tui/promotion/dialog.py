"""Promoting a memory: choose where to, see the exact text and what changes, and write it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from textual import events, on, work
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.record import AlreadyPromoted, Conflict, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.services.files.threeway import DiffLine
from workbench.services.open import Workbench
from workbench.services.promotion.targets import Offer, PromotionPlan, Target, about_of, size_said, title_of
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking, change
from workbench.tui.files.preview import Pane
from workbench.tui.promotion.actions import PROMOTE
from workbench.tui.widgets.content import MUTED, assemble, body, keyed, undo
from workbench.tui.widgets.dialog import Confirm, Dialog
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput

# What the dialog that promotes has to show: what would be written where, and what changes.
#
# Planning it reads whole files and playbooks, so it is made on a thread; it holds no widget.


TO_MOVE = (
    "To move it, take that back first: {app.back} leaves, {stream.history} shows its history, {history.undo} there "
    "takes a change back."
)

Changes = Sequence[tuple[str, Sequence[DiffLine]]]
"""The files or playbooks that change, by name, with their differences."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which memories are to go where; without a target `problem` says why there is none.

    `misses` says that the person has yet to say something, and nothing is wrong.
    """

    ids: tuple[str, ...]
    target: Target | None = None
    problem: str = ""
    misses: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to see of a promotion: the plan, what changes, and the lines that are shown of it.

    Without a `plan` nothing can be written, and `problem` says why.
    """

    asked: Asked
    plan: PromotionPlan | None = None
    changes: Changes = ()
    lines: Sequence[DiffLine] = ()
    problem: str = ""


def look(bench: Workbench, asked: Asked) -> Look:
    """Plan the promotion and find what changes; on any thread."""
    if asked.target is None:
        return Look(asked, problem=asked.problem)
    try:
        plan = bench.promotion.plan(asked.ids, asked.target)
    except AlreadyPromoted as error:
        return Look(asked, problem=f"{error.message} {keyed(TO_MOVE)}")
    except WorkbenchError as error:
        return Look(asked, problem=str(error))
    changes = tuple(plan.changes())
    return Look(asked, plan, changes, _lines(changes, bench.safety.masked if plan.flagged else str))


def _lines(changes: Changes, masked: Callable[[str], str]) -> list[DiffLine]:
    """Return the changes of every file, each below its name; secrets are masked while nobody let them pass."""
    shown: list[DiffLine] = []
    for name, lines in changes:
        shown.append(DiffLine("place", name))
        kept = lines if len(lines) > 1 and lines[0].number > 1 else lines[1:]
        shown += [DiffLine(part.kind, masked(part.text), part.number) for part in kept]
    return shown


OTHER = Offer(Target("block"), "another file …", "any Markdown file")
NO_PROJECT = Offer(Target("block"), "CLAUDE.md, AGENTS.md, memory, skill files", "no project")
"""Stands for the usual files where there are none; it cannot be chosen."""

WHY_NO_PROJECT = (
    "CLAUDE.md, AGENTS.md, memory and skill files: this store belongs to no project "
    "(a .workbench folder in it makes one). Any Markdown file can be named below."
)
FIELDS = (("title", "title"), ("slug", "name"), ("about", "about"), ("path", "file"), ("section", "under"))
UNDER = "a heading of the file; empty: a heading of its own"
ON_SCRATCH = " · files are those of the demo's scratch project"
IN_PROJECT = "docs/NOTES.md, from the project's folder"
ANYWHERE = "a full path, such as ~/notes/NOTES.md"
BESIDE = 110
"""Columns from which the places stand beside the text."""

UNNAMED = "Name the Markdown file to write: tab goes to the field."
LOOKING = Content.styled("Looking …", MUTED)


class _Missing(WorkbenchError):
    """What a person has yet to say; nothing is wrong."""


ALLOWED = "allowed when promoted"


def open_promote(
    screen: AreaScreen, ids: str | Sequence[str], kind: str = "", then: Callable[[], None] = lambda: None
) -> None:
    """Open the dialog for one memory or several; `kind` is the kind of place that the cursor starts on.

    `then` is called when they were promoted.
    """
    app = screen.workbench_app
    names = (ids,) if isinstance(ids, str) else tuple(ids)

    def written(plan: PromotionPlan | None) -> None:
        if plan is not None:
            then()
            what = plan.ids[0] if len(plan.ids) == 1 else f"{len(plan.ids)} memories"
            app.say(f"Promoted {what} to {', '.join(plan.to)}. {undo()} takes it back.")

    with app.reporting():
        app.push_screen(PromoteDialog(screen.bench, names, kind), written)


class PromoteDialog(Dialog[PromotionPlan | None]):
    """The places on one side, the text on the other; the result is what was written.

    Raises `UnknownRecord` when a memory is gone.
    """

    class Looked(Message):
        """A thread has made what there is to see."""

        def __init__(self, look: Look) -> None:
            super().__init__()
            self.look = look

    BINDINGS: ClassVar[list[BindingType]] = bindings(PROMOTE)
    DEFAULT_CSS = """
    PromoteDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; height: 1; }
        & .dialog--keys { margin-top: 0; }
        & .promote--memory { height: auto; max-height: 2; margin-bottom: 1; color: $text-muted; }
        & LineView { background: $background; }
        & #promote-places { height: auto; max-height: 6; }
        & #promote-body { layout: vertical; height: 1fr; }
        & #promote-text { height: 1fr; }
        & .promote--line { height: 1; display: none; }
        & .promote--line.-used { display: block; }
        & .promote--label { width: 8; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & #promote-state { height: auto; max-height: 5; }
        & #promote-lines { height: 1fr; margin-top: 1; }
        & #promote-lines > .line--cursor { background: $background; color: $foreground; }
        & #promote-lines:focus > .line--cursor {
            background: $block-cursor-background; color: $block-cursor-foreground;
        }
        &.-narrow .promote--memory { max-height: 1; }
        &.-narrow #promote-lines { margin-top: 0; }
        &.-beside #promote-body { layout: horizontal; }
        &.-beside #promote-places { width: 46; height: 100%; max-height: 100%; }
        &.-wide #promote-places { width: 64; }
        &.-beside #promote-text { border-left: solid $panel; padding-left: 1; }
    }
    """

    def __init__(self, bench: Workbench, ids: Sequence[str], kind: str = "") -> None:
        self._memories = [bench.stream.get(id) for id in dict.fromkeys(ids)]
        first = self._memories[0]
        what = first.id if len(self._memories) == 1 else f"{len(self._memories)} memories"
        super().__init__(f"Promote {what}{ON_SCRATCH if bench.promotion.is_scratch else ''}", PROMOTE)
        self._bench = bench
        self._kind = kind
        self._asked: Asked | None = None
        self._found: Look | None = None
        self._ready = asyncio.Event()
        """Set while what is shown is what was asked for last."""
        self._notice = self._slug = ""
        self._unoffered = ""
        """Why no places suggest themselves."""
        self._previews = {name: Preview(bench, again="enter", line=True) for name in ("title", "about")}

    def contents(self) -> Iterable[Widget]:
        """Return the memory, the places, the fields, what will happen, and the changes."""
        self.set_class(self.app.size.width >= BESIDE, "-beside", update=False)
        several = len(self._memories) > 1
        said = " · ".join(m.id for m in self._memories) if several else self._memories[0].line
        yield Static(body(said), classes="promote--memory")
        places: LineView[Offer] = LineView(_draw, lambda offer: (offer.label, offer.target), id="promote-places")
        hints = {"path": ANYWHERE if self._bench.promotion.project is None else IN_PROJECT, "section": UNDER}
        fields = (
            Horizontal(
                Static(label, classes="promote--label"),
                SafeInput(placeholder=hints.get(name, ""), id=f"promote-{name}"),
                classes="promote--line",
                id=f"promote-line-{name}",
            )
            for name, label in FIELDS
        )
        text = Vertical(*fields, Static(id="promote-state"), Pane("promote-lines"), id="promote-text")
        yield Horizontal(places, text, id="promote-body")

    def on_mount(self) -> None:
        """List the places and look at the first one."""
        self._fill(self._memories[0])
        try:
            offers: tuple[Offer, ...] = (*self._bench.promotion.offers(), OTHER)
        except WorkbenchError as error:
            offers, self._unoffered = (OTHER,), str(error)
        wanted = [offer for offer in offers if offer.target.kind == self._kind] or [offers[0]]
        if self._bench.promotion.project is None:
            offers = (NO_PROJECT, *offers)
        place = offers.index(wanted[0])
        self._places.set_rows(offers, cursor=place)
        self._places.focus()

    def on_resize(self, event: events.Resize) -> None:
        """Put the places beside the text where there is room."""
        self.set_class(event.size.width >= BESIDE, "-beside")

    @property
    def _places(self) -> LineView[Offer]:
        return self.query_one("#promote-places", LineView)

    def _field(self, name: str) -> SafeInput:
        return self.query_one(f"#promote-{name}", SafeInput)

    def _fill(self, memory: Memory) -> None:
        with self.prevent(Input.Changed):
            self._field("title").value = title_of(memory)
            self._field("about").value = about_of(memory)

    # Looking

    @on(LineView.Highlighted, "#promote-places")
    def _chosen(self) -> None:
        self._look()

    @on(Input.Changed)
    def _written(self) -> None:
        self._look()

    def _look(self, notice: str = "") -> None:
        """Have the promotion to the place under the cursor planned; what stands there stays until that is done.

        `notice` is said in place of what the plan does.
        """
        offer = self._places.current
        if offer is None:
            return
        self._show_fields(offer)
        self._ready.clear()
        self._notice, self._asked = notice, self._wanted(offer)
        if self._asked.target is None:
            self._notice = notice or self._unoffered
            self._show(look(self._bench, self._asked))
            return
        if self._found is None:
            self.query_one("#promote-state", Static).update(LOOKING)
        self._make(self._asked)

    def _wanted(self, offer: Offer) -> Asked:
        ids = tuple(memory.id for memory in self._memories)
        try:
            return Asked(ids, self._target(offer))
        except WorkbenchError as error:
            return Asked(ids, None, str(error), isinstance(error, _Missing))

    @work(thread=True, exclusive=True, group="promote-look", description="what is written")
    def _make(self, asked: Asked) -> None:
        worker = get_current_worker()
        found = look(self._bench, asked)
        if not worker.is_cancelled:
            self.post_message(self.Looked(found))

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        if event.look.asked is self._asked:
            self._show(event.look)

    def _show(self, found: Look) -> None:
        self._found = found
        self._show_name(found.plan)
        if self._notice:
            self._complain(self._notice)
        else:
            self.query_one("#promote-state", Static).update(assemble(list(_state(found))))
        pane = self.query_one("#promote-lines", Pane)
        pane.set_empty(Content(""))
        pane.show(found.lines, changed=True)
        self._ready.set()

    def _target(self, offer: Offer) -> Target:
        target = offer.target
        if offer is NO_PROJECT:
            raise _Missing(WHY_NO_PROJECT)
        if offer is OTHER:
            name = self._field("path").value.strip()
            if not name:
                raise _Missing(UNNAMED)
            try:
                return Target("block", str(Path(name).expanduser()), section=self._section)
            except RuntimeError as error:
                raise WorkbenchError(f"{name} names an unknown home folder.") from error
        if target.kind not in ("memory", "skill") or len(self._memories) > 1:
            return replace(target, section=self._section) if target.kind == "block" else target
        slug = self._field("slug").value.strip()
        title, about = (self._worded(name, preview) for name, preview in self._previews.items())
        kept = any(preview.kept for preview in self._previews.values())
        return Target(target.kind, target.where, title, "" if slug == self._slug else slug, about, kept)

    @property
    def _section(self) -> str:
        """The heading of the file that a person chose."""
        return self._field("section").value.strip()

    def _worded(self, name: str, preview: Preview) -> str:
        """Return what a field says, as it would be written."""
        text = preview.read(self._field(name).value.strip())
        return text if preview.kept else self._bench.safety.masked(text)

    def _asked_first(self, target: Target) -> str | None:
        """Return how a title or a description would be written, before it is for the first time."""
        if not (target.title or target.about):
            return None
        said = [preview(self._field(name).value.strip()) for name, preview in self._previews.items()]
        return next((one for one in said if one), None)

    def _show_fields(self, offer: Offer) -> None:
        named = offer.target.kind in ("memory", "skill") and len(self._memories) == 1
        for name, _ in FIELDS:
            fitting = {"path": offer is OTHER, "section": offer.target.kind == "block" and offer is not NO_PROJECT}
            used = fitting.get(name, named)
            self.query_one(f"#promote-line-{name}").set_class(used, "-used")

    def _show_name(self, plan: PromotionPlan | None) -> None:
        """Show the name that a file would get, unless the person wrote one."""
        field = self._field("slug")
        if plan is None or plan.target.slug or plan.target.kind not in ("memory", "skill") or field.has_focus:
            return
        path = Path(plan.to[0])
        self._slug = path.parent.name if plan.target.kind == "skill" else path.stem
        with self.prevent(Input.Changed):
            field.value = self._slug

    # Writing

    @on(LineView.Opened)
    @on(Input.Submitted)
    async def _enter(self) -> None:
        await self.action_write()

    def action_next_part(self) -> None:
        """To the next field, or to the text."""
        self.focus_next()

    @asking
    async def action_write(self) -> None:
        """Write what was asked for, after a yes where one is needed; what goes wrong is said here and loses nothing."""
        await self._ready.wait()
        if self.app.screen is not self:
            return
        plan = self._found.plan if self._found is not None else None
        if plan is None:
            offer = self._places.current
            if offer is OTHER:
                self._field("path").focus()
            else:
                self._places.focus()
                self._complain(self._found.problem if self._found is not None else UNNAMED)
            self.app.bell()
            return
        if (first := self._asked_first(plan.target)) is not None:
            self._complain(first)
            return
        if (plan.outside or plan.flagged) and not await self.app.push_screen_wait(_question(plan)):
            return

        typed = tuple(text for preview in self._previews.values() for text in preview.typed)

        def write() -> None:
            self._bench.promotion.carry_out(plan, outside=True, allow=ALLOWED, keep=typed)
            self.dismiss(plan)

        change(self, write, self._not_written)

    def _not_written(self, error: WorkbenchError) -> None:
        if isinstance(error, Conflict):
            self._look(f"{error.message} The preview now shows what would be written.")
        else:
            self._complain(str(error))

    def _complain(self, sentence: str) -> None:
        said = [(f"✗ {printable(sentence)}", "bold $text-error")]
        self.query_one("#promote-state", Static).update(assemble(said))


def _state(found: Look) -> Iterator[tuple[str, str]]:
    """Yield what would happen, in words and their styles."""
    plan = found.plan
    if plan is None and found.asked.misses:
        yield found.problem, MUTED
        return
    if plan is None:
        yield f"✗ {printable(found.problem)}", "$text-error"
        return
    kinds, files = [part.kind for _, lines in found.changes for part in lines], len(found.changes)
    lines = "1 line" if kinds.count("added") == 1 else f"{kinds.count('added')} lines"
    yield f"{lines} in, {kinds.count('removed')} out", "bold"
    yield f" of {files} files." if files > 1 else ".", ""
    if plan.approves:
        yield " It is approved first." if len(plan.memories) == 1 else " They are approved first.", ""
    for size in plan.sizes:
        yield f" {printable(size_said(size))}", "$text-warning" if size.is_over else MUTED
    for warning in plan.warnings:
        yield f"\n! {printable(warning)}", "$text-warning"
    for path in plan.outside:
        yield f"\n! {printable(path)} lies outside the project.", "$text-warning"
    for held in plan.flagged:
        yield f"\n! {printable(held.line)}", "$text-error"


def _question(plan: PromotionPlan) -> Confirm:
    """Ask about what leaves the project, or should not travel."""
    reasons = [*(f"{path} lies outside the project." for path in plan.outside), *(h.line for h in plan.flagged)]
    question = "Write there anyway?" if plan.flagged else "Write outside the project?"
    return Confirm(question, clock=time.monotonic, detail=body("\n".join(reasons)), yes="write it")


def _draw(offer: Offer, width: int) -> list[Cell]:
    if offer is NO_PROJECT:
        fits = len(offer.label) + len(offer.remark) + 2 <= width
        return [
            Cell(offer.label, 0, MUTED),
            *([Cell(offer.remark, len(offer.remark), MUTED, "right")] if fits else []),
        ]
    remark = min(len(offer.remark), width // 2)
    return [Cell(offer.label), *([Cell(offer.remark, remark, MUTED, "right")] if remark else [])]
