"""Promoting a memory: choose where to, see the exact text and what changes, and write it."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from textual import events, on, work
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.record import AlreadyPromoted, Conflict, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.agents.served_lately import Given, Shift
from workbench.services.files.threeway import DiffLine
from workbench.services.forms import Values
from workbench.services.open import Workbench
from workbench.services.promotion.copies import Copy, CopyPlan, Correction, Obstacle
from workbench.services.promotion.promotion import (
    Offer,
    PromotionPlan,
    Target,
    about_of,
    size_said,
    title_of,
)
from workbench.tui.actions import COPIES, PROMOTE
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.host import Host
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking
from workbench.tui.files.preview import Pane, PreviewDialog, labelled
from workbench.tui.widgets.content import BLANK, MUTED, body, joined, keyed, undo
from workbench.tui.widgets.dialog import Dialog, SafeInput, path_to_write, sure
from workbench.tui.widgets.figures import amount
from workbench.tui.widgets.line_list import Cell, LineView


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to see of a promotion: the plan, and the lines that are shown of it.

    Without a `plan` nothing can be written, and `problem` says why; `misses` that the person has
    yet to say something.
    """

    plan: PromotionPlan | None = None
    lines: Sequence[DiffLine] = ()
    problem: str = ""
    misses: bool = False


def look(bench: Workbench, ids: Sequence[str], target: Target) -> Look:
    """Plan the promotion and find what changes, each file below its name; on any thread.

    Secrets are masked while nobody let them pass.
    """
    try:
        plan = bench.promotion.plan(ids, target)
    except AlreadyPromoted as error:
        how = keyed(
            "To move it, undo that first: {app.back} closes this, {stream.history} shows its "
            "history, {history.undo} there undoes a change."
        )
        return Look(problem=f"{error.message} {how}")
    except WorkbenchError as error:
        return Look(problem=str(error))
    shown = list[DiffLine]()
    masked: Callable[[str], str] = bench.safety.masked if plan.flagged else str
    for edit in plan.edits:
        lines = edit.lines()
        shown.append(DiffLine("place", edit.name))
        kept = lines if len(lines) > 1 and lines[0].number > 1 else lines[1:]
        shown += [replace(part, text=masked(part.text)) for part in kept]
    if plan.target.kind == "team":
        shown.append(DiffLine("place", plan.to[0]))
        texts = masked(plan.text).splitlines()
        shown += [DiffLine("added", text, number) for number, text in enumerate(texts, 1)]
    return Look(plan, shown)


OTHER = Offer(Target("block"), "another file …", "any Markdown file")
NO_PROJECT = Offer(Target("block"), "CLAUDE.md, AGENTS.md, memory, skill files", "no project")
"""Stands for the usual files where there are none; it cannot be chosen."""

WHY_NO_PROJECT = (
    "CLAUDE.md, AGENTS.md, memory and skill files: this store belongs to no project. Any "
    "Markdown file can be named below."
)
FIELDS = (
    ("title", "title"),
    ("slug", "name"),
    ("about", "about"),
    ("path", "file"),
    ("section", "under"),
)
UNDER = "a heading of the file; empty: a new heading"
ON_SCRATCH = " · in the demo's scratch project"
IN_PROJECT = "docs/NOTES.md, from the project's folder"
ANYWHERE = "a full path, such as ~/notes/NOTES.md"
BESIDE = 110
"""Columns from which the places stand beside the text."""

UNNAMED = "Name the Markdown file to write: tab goes to the field."


class _Missing(WorkbenchError):
    """What a person has yet to say; nothing is wrong."""


ALLOWED = "allowed when promoted"


def open_promote(
    screen: AreaScreen,
    ids: Sequence[str],
    then: Callable[[], None] = lambda: None,
) -> None:
    """Open the dialog for one memory or several; `then` is called when they were promoted."""
    app = screen.workbench_app

    def written(plan: PromotionPlan | None) -> None:
        if plan is not None:
            then()
            what = plan.ids[0] if len(plan.ids) == 1 else f"{len(plan.ids)} memories"
            if plan.target.kind == "team":
                app.say(f"Proposed {what}: it waits in the Review of {', '.join(plan.to)}.")
                return
            app.say(f"Promoted {what} to {', '.join(plan.to)}. {undo()} takes it back.")

    with app.reporting():
        app.push_screen(PromoteDialog(screen.bench, ids), written)


class PromoteDialog(PreviewDialog[PromotionPlan | None, Look]):
    """The places on one side, the text on the other; the result is what was written.

    Raises `UnknownRecord` when a memory is gone.
    """

    BINDINGS = bindings(PROMOTE)
    DEFAULT_CSS = """
    PromoteDialog {
        & .promote--memory { height: auto; max-height: 2; margin-bottom: 1; color: $text-muted; }
        & #promote-places { height: auto; max-height: 6; }
        & #promote-body { layout: vertical; height: 1fr; }
        & #promote-text { height: 1fr; }
        & .dialog--state { max-height: 5; margin: 0; }
        & #promote-lines { height: 1fr; margin-top: 1; }
        &.-narrow .promote--memory { max-height: 1; }
        &.-narrow #promote-lines { margin-top: 0; }
        &.-beside #promote-body { layout: horizontal; }
        &.-beside #promote-places { width: 46; height: 100%; max-height: 100%; }
        &.-wide #promote-places { width: 64; }
        &.-beside #promote-text { border-left: solid $panel; padding-left: 1; }
    }
    """

    def __init__(self, bench: Workbench, ids: Sequence[str]) -> None:
        self._memories = [bench.stream.get(id) for id in dict.fromkeys(ids)]
        self._ids = tuple(memory.id for memory in self._memories)
        what = self._ids[0] if len(self._ids) == 1 else f"{len(self._ids)} memories"
        super().__init__(
            f"Promote {what}{ON_SCRATCH if bench.promotion.places.is_scratch else ''}",
            PROMOTE,
            bench,
        )
        self._slug = self._unoffered = ""
        self._previews = {
            name: Preview(bench, again="enter", line=True) for name in ("title", "about")
        }
        hints = {
            "path": ANYWHERE if bench.promotion.places.project is None else IN_PROJECT,
            "section": UNDER,
        }
        self._fields = {
            name: SafeInput(placeholder=hints.get(name, ""), id=f"promote-{name}")
            for name, _ in FIELDS
        }
        self._lines = {name: labelled(label, self._fields[name]) for name, label in FIELDS}
        self._places: LineView[Offer] = LineView(
            _draw, lambda one: (one.label, one.target), id="promote-places"
        )

    def contents(self) -> Iterable[Widget]:
        """Return the memory, the places, the fields, what will happen, and the changes."""
        self.set_class(self.app.size.width >= BESIDE, "-beside", update=False)
        said = self._memories[0].line if len(self._ids) == 1 else " · ".join(self._ids)
        yield Static(body(said), classes="promote--memory")
        text = Vertical(*self._lines.values(), self.state, Pane("promote-lines"), id="promote-text")
        yield Horizontal(self._places, text, id="promote-body")

    def on_mount(self) -> None:
        """List the places and look at the first one."""
        with self.prevent(Input.Changed):
            self._fields["title"].value = title_of(self._memories[0])
            self._fields["about"].value = about_of(self._memories[0])
        try:
            offers: tuple[Offer, ...] = (*self.bench.promotion.offers(), OTHER)
        except WorkbenchError as error:
            offers, self._unoffered = (OTHER,), str(error)
        is_homeless = self.bench.promotion.places.project is None
        if is_homeless:
            offers = (NO_PROJECT, *offers)
        self.say([("Looking …", MUTED)])
        self._places.set_rows(offers, cursor=int(is_homeless))
        self._places.focus()

    def on_resize(self, event: events.Resize) -> None:
        """Put the places beside the text where there is room."""
        self.set_class(event.size.width >= BESIDE, "-beside")

    # Looking

    @on(LineView.Highlighted, "#promote-places")
    @on(Input.Changed)
    def _changed(self) -> None:
        self._look()

    def _look(self, notice: str = "") -> None:
        """Have the promotion to the place under the cursor planned; `notice` is said in place of
        what the plan does.
        """
        if (offer := self._places.current) is None:
            return
        named = offer.target.kind in ("memory", "skill") and len(self._ids) == 1
        shown = {
            "path": offer is OTHER,
            "section": offer.target.kind == "block" and offer is not NO_PROJECT,
        }
        for name, line in self._lines.items():
            line.display = shown.get(name, named)
        try:
            find = partial(look, self.bench, self._ids, self._target(offer))
        except WorkbenchError as error:
            find = partial(Look, problem=str(error), misses=isinstance(error, _Missing))
            notice = notice or self._unoffered
        self.work_out(find, partial(self._show, notice))

    def _show(self, notice: str, found: Look) -> None:
        self._show_name(found.plan)
        if notice:
            self.complain(notice)
        else:
            self.say(_state(found))
        pane = self.query_one(Pane)
        pane.set_empty(BLANK)
        pane.show(found.lines, changed=True)

    def _value(self, name: str) -> str:
        return self._fields[name].value.strip()

    def _target(self, offer: Offer) -> Target:
        target, section = offer.target, self._value("section")
        if offer is NO_PROJECT:
            raise _Missing(WHY_NO_PROJECT)
        if offer is OTHER:
            if not (name := self._value("path")):
                raise _Missing(UNNAMED)
            return Target("block", str(path_to_write(name)), section=section)
        if target.kind not in ("memory", "skill") or len(self._ids) > 1:
            return replace(target, section=section) if target.kind == "block" else target
        worded = {name: preview.read(self._value(name)) for name, preview in self._previews.items()}
        for name, preview in self._previews.items():
            worded[name] = worded[name] if preview.kept else self.masked(worded[name])
        kept = any(preview.kept for preview in self._previews.values())
        slug = self._value("slug")
        slug = "" if slug == self._slug else slug
        return Target(target.kind, target.where, worded["title"], slug, worded["about"], kept)

    def _show_name(self, plan: PromotionPlan | None) -> None:
        """Show the name that a file would get, unless the person wrote one."""
        field = self._fields["slug"]
        if (
            plan is None
            or plan.target.slug
            or plan.target.kind not in ("memory", "skill")
            or field.has_focus
        ):
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

    @asking
    async def action_write(self) -> None:
        """Write what was asked for, after a yes where one is needed; what goes wrong is said here
        and loses nothing.
        """
        await self.ready.wait()
        if self.app.screen is not self or (found := self.found) is None:
            return
        if (plan := found.plan) is None:
            if self._places.current is OTHER:
                self._fields["path"].focus()
            else:
                self._places.focus()
                self.complain(found.problem)
            self.app.bell()
            return
        # How a title or a description would be written is said before it is for the first time.
        named = self._previews if plan.target.title or plan.target.about else {}
        if first := next(
            filter(None, (preview(self._value(name)) for name, preview in named.items())), None
        ):
            self.complain(first)
            return
        if reasons := [*map(_outside, plan.outside), *(held.line for held in plan.flagged)]:
            question = "Write there anyway?" if plan.flagged else "Write outside the project?"
            if not await sure(self, question, "\n".join(reasons), "write it"):
                return
        typed = tuple(text for preview in self._previews.values() for text in preview.typed)

        def write() -> PromotionPlan:
            self.bench.promotion.carry_out(plan, outside=True, allow=ALLOWED, keep=typed)
            return plan

        self.write(write, self._look)


def _state(found: Look) -> Iterator[tuple[str, str]]:
    """Yield what would happen, in words and their styles."""
    plan = found.plan
    if plan is None:
        yield (
            (found.problem, MUTED)
            if found.misses
            else (f"✗ {printable(found.problem)}", "$text-error")
        )
        return
    kinds = [part.kind for part in found.lines]
    yield f"{amount(kinds.count('added'), 'line')} in, {kinds.count('removed')} out", "bold"
    yield f" of {len(plan.edits)} files." if len(plan.edits) > 1 else ".", ""
    if plan.target.kind == "team":
        yield " It waits in the team's Review; undo here leaves it there.", ""
    if plan.approves:
        yield (
            " It is approved first." if len(plan.memories) == 1 else " They are approved first.",
            "",
        )
    for size in plan.sizes:
        yield f" {printable(size_said(size))}", "$text-warning" if size.is_over else MUTED
    for warning in (*plan.warnings, *map(_outside, plan.outside)):
        yield f"\n! {printable(warning)}", "$text-warning"
    for held in plan.flagged:
        yield f"\n! {printable(held.line)}", "$text-error"


def _outside(path: str) -> str:
    return f"{path} lies outside the project."


def _draw(offer: Offer, width: int) -> list[Cell]:
    remark, missing = min(len(offer.remark), width // 2), offer is NO_PROJECT
    if missing and len(offer.label) + remark + 2 > width:
        remark = 0
    more = [Cell(offer.remark, remark, MUTED, "right")] if remark else []
    return [Cell(offer.label, 0, MUTED if missing else ""), *more]


# The copies of a correction: shown before it is saved, and updated with it on a y.


WHY: dict[Obstacle, str] = {
    "rewritten": "has different wording now and stays",
    "changed": "was changed by hand since and stays",
    "held": "stays: the new text is held back from files",
    "cites": "cites it and stays: please check",
    "whole": "stays until it is exported again",
}

NAMED = 3
"""Copies that stay, and agents, that are named at most."""

QUERY = 48
"""Cells of an agent's question that are shown."""


class CopiesDialog(Dialog[bool | None]):
    """What else says what is being corrected: True updates it too, False saves the correction
    alone, None goes back.
    """

    BINDINGS = bindings(COPIES)
    DEFAULT_CSS = """
    CopiesDialog {
        & > .dialog { width: 94%; max-width: 120; height: auto; max-height: 94%; }
        &.-narrow > .dialog { width: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .copies--said { height: auto; max-height: 8; margin-bottom: 1; }
        & Pane { height: auto; max-height: 60vh; background: $background; }
    }
    """

    def __init__(self, bench: Workbench, plan: CopyPlan) -> None:
        self._bench, self._plan = bench, bench.safety.shown(plan)
        has = amount(len(plan.updated), "copy of {} has", "copies of {} have").format(
            _named(self._plan)
        )
        super().__init__(f"{has} the old text", COPIES)
        self._after = next(
            (after for _, after in plan.corrected if isinstance(after, Memory)), None
        )
        self._given = () if self._after is None else bench.given_lately.of(self._after.id)
        self._shifts: dict[str, Shift] = {}

    def contents(self) -> Iterable[Widget]:
        """Return who was given it, what stays, and what would change."""
        yield Static(classes="copies--said")
        yield Pane("copies-lines")

    def on_mount(self) -> None:
        """Show the changes, and have the questions of agents ranked where the model is there
        already.
        """
        pane = self.query_one(Pane)
        pane.show(list(changed_lines(self._plan.updated)))
        pane.focus()
        self._show_said()
        if self._given and self._bench.impact.ready:
            self._rank()

    @work(exclusive=True, group="copies-rank", description="where it would rank")
    async def _rank(self) -> None:
        if (after := self._after) is None:
            return
        for given in self._given[:NAMED]:
            try:
                shift = await asyncio.to_thread(self._bench.given_lately.shift, given, after)
            except WorkbenchError:
                return  # nothing is said of what cannot be ranked
            if shift is not None:
                self._shifts[given.agent] = shift
        self._show_said()

    def _show_said(self) -> None:
        said, used = self.query_one(".copies--said", Static), str(self._bench.tuning.used)
        parts = [
            body(line)
            for line in given_lines(self._bench.safety.shown(self._given), self._shifts, used)
        ]
        parts += [body(f"! {line}", "$text-warning") for line in left_lines(self._plan.left)]
        said.display = bool(parts)
        said.update(joined(*parts))

    def action_answer(self, update: bool) -> None:
        self.dismiss(update)


class CopyAsking:
    """Asks for one edited record whether its copies go along, and saves them with it.

    `corrected` returns what saving values of its form would change, as it would be stored.
    """

    def __init__(self, app: Host, corrected: Callable[[Values], Sequence[Correction]]) -> None:
        self._app, self._bench = app, app.bench
        self._corrected = corrected
        self._plan = CopyPlan(())
        self._answer: tuple[Values, bool] | None = None

    def asks(self, values: Values) -> bool:
        """Ask about the copies of a correction, and tell whether there is an answer to wait for.

        With the answer the dialog that saves is told to save again.
        """
        if self._answer is not None and self._answer[0] == values:
            return False
        self._plan = self._bench.copies.of(self._corrected(values))
        if not self._plan.updated:
            return False
        saver = self._app.screen

        def answered(update: bool | None) -> None:
            if update is not None:
                self._answer = (values, update)
                self._app.call_later(saver.run_action, "save")

        self._app.push_screen(CopiesDialog(self._bench, self._plan), answered)
        return True

    async def settled(self, values: Values) -> bool:
        """Ask about the copies of a correction where no dialog saves it, and tell whether there was
        an answer.
        """
        self._plan = self._bench.copies.of(self._corrected(values))
        if not self._plan.updated:
            return True
        update = await self._app.push_screen_wait(CopiesDialog(self._bench, self._plan))
        self._answer = None if update is None else (values, update)
        return update is not None

    def save(self, values: Values, write: Callable[[], object]) -> None:
        """Save a correction, with its copies where the answer was yes; raises as `Copies.carry_out`
        does.
        """
        if self._answer != (values, True):
            write()
            return
        copies = amount(len(self._plan.updated), "copy", "copies")
        try:
            self._bench.copies.carry_out(
                self._plan, write, f"edit {_named(self._plan)} and {copies}"
            )
        except Conflict:
            self._answer = None  # it is shown anew
            raise

    @property
    def told(self) -> str:
        """What is to be said after saving: how many copies went along, which stay, and who had it."""
        plan, count = self._bench.safety.shown(self._plan), len(self._plan.updated)
        said = f" {amount(count, 'copy keeps', 'copies keep')} the old text." if count else ""
        if self._answer is not None and self._answer[1]:
            said = f" {amount(count, 'copy', 'copies')} updated with it."
        lines = [*left_lines(plan.left)]
        if not plan.updated and plan.corrected:
            given = self._bench.given_lately.of(self._plan.corrected[0][0].id)[:1]
            lines += given_lines(self._bench.safety.shown(given), {}, "")
        return said + "".join(f" {line}." for line in lines)


def _named(plan: CopyPlan) -> str:
    return plan.corrected[0][0].id if len(plan.corrected) == 1 else f"{len(plan.corrected)} records"


def changed_lines(copies: Iterable[Copy]) -> Iterator[DiffLine]:
    """Yield what changes in each copy, below its name."""
    for copy in copies:
        yield DiffLine("place", f"{copy.name}{' · outside the project' if copy.outside else ''}")
        yield from (part for part in copy.lines if part.kind != "place")


def left_lines(copies: Sequence[Copy]) -> Iterator[str]:
    """Yield why copies stay as they are, those for one reason together."""
    for why in dict.fromkeys(copy.obstacle for copy in copies):
        names = [copy.name for copy in copies if copy.obstacle == why]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"{', '.join(names[:NAMED])}{more} {WHY[why]}"


def given_lines(given: Sequence[Given], shifts: dict[str, Shift], used: str) -> Iterator[str]:
    """Yield which agents were given it this week, and where it stood and would stand for their last
    question.
    """
    for one in given[:NAMED]:
        said = f"Served to {one.agent} in {amount(one.sessions, 'session')} this week"
        if one.query:
            shift = shifts.get(one.agent)
            before = one.place if shift is None or shift.before is None else shift.before
            after = (
                "" if shift is None else " → out" if shift.after is None else f" → #{shift.after}"
            )
            said += f"; for its last query “{one_line(one.query, QUERY)}” #{before}{after}"
            said += f" under {used}" if shift is not None else ""
        yield said
